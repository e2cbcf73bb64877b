// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/normalizer.h"

namespace quire {

// A sentencepiece normalisation table as tokenizer.json carries it: base64 of a double-array trie
// (darts-clone) and the texts its values point to. Applied as Hugging Face's spm_precompiled does:
// to whole grapheme clusters of fewer than six bytes, else to single characters.
class PrecompiledNormalizer final : public Normalizer {
 public:
  // Throws Error kCorrupt naming precompiled_charsmap.
  PrecompiledNormalizer(std::string_view base64, std::string subject);
  std::string normalize(std::string text) const override;

 private:
  std::optional<std::string_view> find(std::string_view chunk) const;
  void append(std::string_view cluster, std::string& out) const;
  [[noreturn]] void fail(std::string_view problem) const;

  std::string subject_;
  std::vector<std::uint32_t> trie_;
  std::string texts_;  // each ends in NUL
};

}  // namespace quire
