// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"
#include "text/unicode.h"

namespace quire {

// Rewrites a text before it is cut into pieces, as Hugging Face tokenizers' normalizers do. Texts
// are valid UTF-8 on both sides.
//
// Thread-safety: immutable; every method may be called concurrently.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // Throws Error kInvalidArgument when a pattern runs into its limits.
  virtual std::string normalize(std::string text) const = 0;
};

class SequenceNormalizer final : public Normalizer {
 public:
  explicit SequenceNormalizer(std::vector<std::unique_ptr<const Normalizer>> parts)
      : parts_(std::move(parts)) {}
  std::string normalize(std::string text) const override;

 private:
  std::vector<std::unique_ptr<const Normalizer>> parts_;
};

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(NormalForm form) : form_(form) {}
  std::string normalize(std::string text) const override { return normalized(text, form_); }

 private:
  NormalForm form_;
};

class LowercaseNormalizer final : public Normalizer {
 public:
  std::string normalize(std::string text) const override { return lower_case(text); }
};

// Removes combining marks; meant for decomposed text.
class StripAccentsNormalizer final : public Normalizer {
 public:
  std::string normalize(std::string text) const override;
};

// Removes white space at the ends.
class StripNormalizer final : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  std::string normalize(std::string text) const override;

 private:
  bool left_;
  bool right_;
};

// Replaces each match of a pattern by a fixed text.
class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(Regex regex, std::string content)
      : regex_(std::move(regex)), content_(std::move(content)) {}
  std::string normalize(std::string text) const override;

 private:
  Regex regex_;
  std::string content_;
};

// Replaces each occurrence of a text.
class ReplaceTextNormalizer final : public Normalizer {
 public:
  // REQUIRES: pattern is not empty.
  ReplaceTextNormalizer(std::string pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  std::string normalize(std::string text) const override;

 private:
  std::string pattern_;
  std::string content_;
};

// Puts a text in front of what is not empty.
class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : prefix_(std::move(prefix)) {}
  std::string normalize(std::string text) const override;

 private:
  std::string prefix_;
};

// BERT's: control characters go, white space becomes spaces, ideographs stand alone, accents go,
// letters become small, each if asked.
class BertNormalizer final : public Normalizer {
 public:
  struct Options {
    bool clean_text = true;
    bool handle_chinese_chars = true;
    bool strip_accents = true;
    bool lowercase = true;
  };
  explicit BertNormalizer(Options options) : options_(options) {}
  std::string normalize(std::string text) const override;

 private:
  Options options_;
};

// The clean-up of neural machine translation: controls go, odd white space becomes spaces.
class NmtNormalizer final : public Normalizer {
 public:
  std::string normalize(std::string text) const override;
};

// Writes the bytes in byte letters.
class ByteLevelNormalizer final : public Normalizer {
 public:
  std::string normalize(std::string text) const override;
};

// `text` with every occurrence of `pattern` (not empty) replaced, left to right.
std::string replace_all(std::string_view text, std::string_view pattern, std::string_view content);

}  // namespace quire
