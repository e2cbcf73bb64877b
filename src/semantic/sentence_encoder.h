// SPDX-License-Identifier: Apache-2.0
// The embedder that Embedder::load gives: tokenizer, encoder, pooling, perhaps normalisation.
//
// Thread-safety: as Embedder's.
#pragma once

#include <quire/embedder.h>

#include <optional>

#include "kernels/thread_pool.h"
#include "model/encoder.h"
#include "model/encoder_files.h"
#include "semantic/sentence_tokenizer.h"

namespace quire {

class SentenceEncoder final : public Embedder {
 public:
  static std::shared_ptr<const Embedder> load(const std::filesystem::path& path,
                                              const EmbedderOptions& options);

  SentenceEncoder(const std::filesystem::path& path, const EncoderFiles& files,
                  const EmbedderOptions& options);

  std::string name() const override;
  std::int64_t dimension() const override;
  std::vector<float> embed(std::string_view text) const override;
  std::vector<std::vector<float>> embed_batch(std::span<const std::string> texts) const override;
  Embedding embed_in_detail(std::string_view text) const override;
  std::vector<float> embed_ids(std::span<const TokenId> ids) const override;

 private:
  Embedding detail(std::string_view text) const;
  std::vector<std::vector<float>> batch(std::span<const std::string> texts) const;
  SentenceIds tokenize(std::string_view text) const;
  std::vector<float> pool(std::span<const float> states) const;
  void run(std::span<const TokenId> ids, std::span<const std::int64_t> ends,
           std::vector<std::vector<float>>& out) const;

  std::filesystem::path path_;
  std::vector<Pooling> pooling_;
  bool normalize_;
  std::optional<SentenceTokenizer> tokenizer_;
  mutable ThreadPool threads_;  // callers of run() take turns
  Encoder encoder_;
};

}  // namespace quire
