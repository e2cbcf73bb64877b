// SPDX-License-Identifier: Apache-2.0
#include "semantic/sentence_encoder.h"

#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "semantic/pooling.h"

namespace quire {

namespace {

// Tokens that are computed at once, unless one text has more: enough to keep the processor busy,
// few enough for its caches.
constexpr std::size_t kPassTokens = 512;

template <typename Work>
auto with_memory(const std::filesystem::path& path, const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, path.native(), "the host refused an allocation");
  }
}

}  // namespace

std::shared_ptr<const Embedder> SentenceEncoder::load(const std::filesystem::path& path,
                                                      const EmbedderOptions& options) {
  return with_memory(path, [&] {
    return std::make_shared<const SentenceEncoder>(path, open_encoder(path), options);
  });
}

SentenceEncoder::SentenceEncoder(const std::filesystem::path& path, const EncoderFiles& files,
                                 const EmbedderOptions& options)
    : path_(path),
      pooling_(files.layout.pooling),
      normalize_(files.layout.normalize),
      threads_(options.threads),
      encoder_(files, options.dtype, &threads_) {
  if (files.tokenizer) tokenizer_.emplace(files);
}

std::string SentenceEncoder::name() const {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(path_, ignored).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::int64_t SentenceEncoder::dimension() const {
  return encoder_.config().hidden * static_cast<std::int64_t>(pooling_.size());
}

std::vector<float> SentenceEncoder::embed(std::string_view text) const {
  return embed_ids(tokenize(text).ids);
}

std::vector<float> SentenceEncoder::embed_ids(std::span<const TokenId> ids) const {
  encoder_.check(ids);
  const std::int64_t end = std::ssize(ids);
  return with_memory(path_, [&] { return pool(encoder_.forward(ids, {&end, 1}, &threads_)); });
}

Embedding SentenceEncoder::embed_in_detail(std::string_view text) const {
  return with_memory(path_, [&] { return detail(text); });
}

Embedding SentenceEncoder::detail(std::string_view text) const {
  SentenceIds sentence = tokenize(text);
  encoder_.check(sentence.ids);
  const std::int64_t end = std::ssize(sentence.ids);
  Embedding result;
  result.token_values = encoder_.forward(sentence.ids, {&end, 1}, &threads_);
  result.values = pool(result.token_values);
  for (const TokenId id : sentence.ids) result.pieces.push_back(tokenizer_->piece(id));
  result.ids = std::move(sentence.ids);
  result.unknown_tokens = sentence.unknown_tokens;
  result.truncated = sentence.truncated;
  return result;
}

std::vector<std::vector<float>> SentenceEncoder::embed_batch(
    std::span<const std::string> texts) const {
  return with_memory(path_, [&] { return batch(texts); });
}

std::vector<std::vector<float>> SentenceEncoder::batch(std::span<const std::string> texts) const {
  std::vector<std::vector<float>> result;
  TokenIds ids;
  std::vector<std::int64_t> ends;
  for (const std::string& text : texts) {
    const TokenIds own = tokenize(text).ids;
    encoder_.check(own);
    if (!ids.empty() && ids.size() + own.size() > kPassTokens) {
      run(ids, ends, result);
      ids.clear();
      ends.clear();
    }
    ids.insert(ids.end(), own.begin(), own.end());
    ends.push_back(std::ssize(ids));
  }
  run(ids, ends, result);
  return result;
}

void SentenceEncoder::run(std::span<const TokenId> ids, std::span<const std::int64_t> ends,
                          std::vector<std::vector<float>>& out) const {
  if (ids.empty()) return;
  const std::vector<float> states = encoder_.forward(ids, ends, &threads_);
  const auto width = static_cast<std::size_t>(encoder_.config().hidden);
  std::size_t first = 0;
  for (const std::int64_t end : ends) {
    const auto last = static_cast<std::size_t>(end);
    out.push_back(pool(std::span(states).subspan(first * width, (last - first) * width)));
    first = last;
  }
}

SentenceIds SentenceEncoder::tokenize(std::string_view text) const {
  if (tokenizer_) return tokenizer_->encode(text);
  throw Error(ErrorCode::kNotFound, path_.native(),
              "expected tokenizer.json or tokenizer.model, to embed a text, found neither");
}

std::vector<float> SentenceEncoder::pool(std::span<const float> states) const {
  const auto width = static_cast<std::size_t>(encoder_.config().hidden);
  std::vector<float> values(width * pooling_.size());
  for (std::size_t i = 0; i < pooling_.size(); ++i) {
    pool_states(pooling_[i], states, std::span(values).subspan(i * width, width));
  }
  if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
    throw Error(ErrorCode::kBadNumber, path_.native(),
                "the embedding: expected finite numbers, found NaN or infinity");
  }
  if (normalize_) scale_to_unit(values);
  return values;
}

}  // namespace quire
