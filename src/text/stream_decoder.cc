// SPDX-License-Identifier: Apache-2.0
#include <quire/tokenizer.h>

#include <optional>
#include <utility>

#include "text/pipeline.h"

namespace quire {

struct StreamDecoder::State {
  std::shared_ptr<const Tokenizer> tokenizer;
  DecodeOptions options;
  const StreamingTokenizer* streaming;  // null for a tokenizer of the application's own
  std::optional<DecodingChain> chain;
  TokenIds ids;  // of such a one: everything, decoded at the end

  void restart() {
    if (streaming != nullptr) chain.emplace(streaming->decoder());
    ids.clear();
  }
};

StreamDecoder::StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options)
    : state_(std::make_unique<State>()) {
  state_->streaming = dynamic_cast<const StreamingTokenizer*>(tokenizer.get());
  state_->tokenizer = std::move(tokenizer);
  state_->options = options;
  state_->restart();
}

StreamDecoder::~StreamDecoder() = default;
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;

std::string StreamDecoder::push(TokenId id) {
  if (state_->streaming == nullptr) {
    state_->ids.push_back(id);
    return {};
  }
  if (const auto piece = state_->streaming->decoded_token(id, state_->options)) {
    state_->chain->token(*piece);
  }
  return state_->chain->take();
}

std::string StreamDecoder::finish() {
  std::string rest;
  if (state_->streaming == nullptr) {
    rest = state_->tokenizer->decode(state_->ids, state_->options);
  } else {
    state_->chain->finish();
    rest = state_->chain->take();
  }
  state_->restart();
  return rest;
}

}  // namespace quire
