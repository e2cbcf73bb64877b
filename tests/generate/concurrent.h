// SPDX-License-Identifier: Apache-2.0
// What tests of concurrent requests share.
#pragma once

#include <quire/generator.h>

#include <future>
#include <random>
#include <utility>

namespace quire::test {

// Of the tiny models, one with a tokenizer, so that it streams.
inline constexpr const char* kModel = "gguf-mistral.gguf";

inline TokenIds random_ids(std::mt19937& random, std::size_t count) {
  TokenIds ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<TokenId>(3 + random() % 60));
  return ids;
}

inline Request request_of(TokenIds ids, std::int64_t max_new_tokens) {
  Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = max_new_tokens;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  return request;
}

// A request that stays in its first callback until it is let go.
class Held {
 public:
  Held(Generator& generator, Request request) {
    result_ = std::async(std::launch::async, [this, &generator, request = std::move(request)] {
      return generator.generate(request, [this](std::string_view) {
        if (!std::exchange(begun_already_, true)) {
          begun_.set_value();
          go_.get_future().wait();
        }
        return Stream::kContinue;
      });
    });
    begun_.get_future().wait();
  }

  Result let_go() {
    go_.set_value();
    return result_.get();
  }

 private:
  bool begun_already_ = false;
  std::promise<void> begun_;
  std::promise<void> go_;
  std::future<Result> result_;
};

}  // namespace quire::test
