// SPDX-License-Identifier: Apache-2.0
#include <quire/embedder.h>
#include <quire/error.h>

#include "semantic/sentence_encoder.h"

namespace quire {

std::shared_ptr<const Embedder> Embedder::load(const std::filesystem::path& path,
                                               const EmbedderOptions& options) {
  return SentenceEncoder::load(path, options);
}

Embedder::~Embedder() = default;

std::string Embedder::name() const { return {}; }

std::vector<std::vector<float>> Embedder::embed_batch(std::span<const std::string> texts) const {
  std::vector<std::vector<float>> result;
  for (const std::string& text : texts) result.push_back(embed(text));
  return result;
}

Embedding Embedder::embed_in_detail(std::string_view text) const {
  Embedding result;
  result.values = embed(text);
  return result;
}

std::vector<float> Embedder::embed_ids(std::span<const TokenId>) const {
  throw Error(ErrorCode::kUnsupported, "ids", "this embedder reads texts only");
}

}  // namespace quire
