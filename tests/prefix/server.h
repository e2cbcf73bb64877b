// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tests/kv/tokens.h"

namespace quire::testing {

inline KvSpec make_spec(std::int64_t window = 0) {
  KvSpec spec;
  spec.layers = {{2, 16, 0}, {2, 16, window}};
  return spec;
}

inline History history_of(std::span<const TokenId> tokens) {
  return {tokens.begin(), tokens.end()};
}

inline TokenIds ramp(std::int64_t count, TokenId first = 0) {
  TokenIds tokens;
  for (std::int64_t i = 0; i < count; ++i) tokens.push_back(first + static_cast<TokenId>(i));
  return tokens;
}

// Serves requests as a generator does, with made-up keys and values.
class Server {
 public:
  explicit Server(PrefixCacheOptions options, KvSpec spec = make_spec())
      : cache(std::move(options)), model{"weights", std::move(spec)} {}

  struct Served {
    std::int64_t reused;
    WhyNotMore why;
    Outputs last;  // the attention of the last token
  };

  Served serve(const TokenIds& tokens, const PrefixScope& scope = {}, std::size_t chunk = 48) {
    PrefixMatch match = cache.lookup(model, tokens, scope);
    EXPECT_EQ(match.reused_tokens() + match.to_prefill(), std::ssize(tokens));
    Served served{match.reused_tokens(), match.why_not_more(), {}};
    const auto kv = match.make_cache();
    EXPECT_EQ(kv->length(), served.reused);
    const History history = history_of(tokens);
    for (auto at = static_cast<std::size_t>(served.reused); at < tokens.size();) {
      const std::size_t n = std::min(chunk, tokens.size() - 1 - at);
      const std::size_t take = std::max<std::size_t>(n, 1);
      served.last = append(*kv, model.kv, std::span(history).subspan(at, take));
      at += take;
      match.store(std::span(tokens).first(at), *kv, at == tokens.size());
    }
    return served;
  }

  Outputs cold(const TokenIds& tokens) const {
    DynamicCache kv(model.kv);
    const History history = history_of(tokens);
    if (tokens.size() > 1) append(kv, model.kv, std::span(history).first(tokens.size() - 1));
    return append(kv, model.kv, std::span(history).last(1));
  }

  PrefixCache cache;
  PrefixModel model;
};

// For a text whose first `shared` tokens are those of a stored one, which then has -1 for its -7.
inline void expect_parted(const Server::Served& served, std::int64_t shared) {
  EXPECT_EQ(served.reused, shared);
  if (shared == 0) {
    EXPECT_EQ(served.why.reason, MissReason::kCold);
    return;
  }
  EXPECT_EQ(served.why.reason, MissReason::kDiverged);
  EXPECT_EQ(served.why.at, shared);
  EXPECT_EQ(served.why.had, -1);
  EXPECT_EQ(served.why.got, -7);
}

// Adds to a family of texts one that begins like part of another and goes on by itself.
inline const TokenIds& grow_family(std::vector<TokenIds>& texts, std::mt19937& random) {
  TokenIds tokens;
  if (!texts.empty()) {
    tokens = texts[random() % texts.size()];
    tokens.resize(random() % (tokens.size() + 1));
  }
  for (std::size_t extra = 1 + random() % 60; extra > 0; --extra) {
    tokens.push_back(static_cast<TokenId>(random() % 1000));
  }
  return texts.emplace_back(std::move(tokens));
}

}  // namespace quire::testing
