// SPDX-License-Identifier: Apache-2.0
#include "semantic/sight.h"

#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "semantic/pooling.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

bool is_blank(const std::string& text) {
  const std::string valid = to_valid_utf8(text);
  for (std::size_t at = 0; at < valid.size();) {
    const Utf8Character c = character_at(valid, at);
    if (!is_white_space(c.value)) return false;
    at += c.length;
  }
  return true;
}

bool has_direction(const std::vector<float>& values) {
  return std::ranges::all_of(values, [](float v) { return std::isfinite(v); }) &&
         std::ranges::any_of(values, [](float v) { return v != 0; });
}

}  // namespace

Sight see(const Embedder& embedder, const std::string& text) {
  Sight sight;
  sight.reading.said = read_utterance(text);
  if (is_blank(text)) {
    sight.blind = SemanticMiss::kEmptyText;
    return sight;
  }
  if (!sight.reading.said.whole) {
    sight.blind = SemanticMiss::kTooLong;
    return sight;
  }
  Embedding embedding;
  try {
    embedding = embedder.embed_in_detail(text);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadNumber) throw;
    sight.blind = SemanticMiss::kBadNumber;
    return sight;
  }
  if (std::ssize(embedding.values) != embedder.dimension()) {
    throw Error(ErrorCode::kInvalidArgument, "embedder",
                "expected a vector of " + std::to_string(embedder.dimension()) + " floats, found " +
                    std::to_string(embedding.values.size()));
  }
  if (!has_direction(embedding.values)) {
    sight.blind = SemanticMiss::kBadNumber;
    return sight;
  }
  if (embedding.truncated) {
    sight.blind = SemanticMiss::kTooLong;
    return sight;
  }
  sight.unit = std::move(embedding.values);
  scale_to_unit(sight.unit);
  sight.reading.states = word_states(sight.reading.said, embedding.pieces, embedding.token_values);
  if (embedding.unknown_tokens > 0) sight.blind = SemanticMiss::kUnknownTokens;
  return sight;
}

}  // namespace quire
