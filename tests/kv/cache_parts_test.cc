// SPDX-License-Identifier: Apache-2.0
// Caches taken apart and put together; files of them: tests/prompt/snapshot_file_test.cc.
#include "kv/cache_parts.h"

#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/quantized_cache.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/kv/tokens.h"

namespace quire::testing {
namespace {

// Tokens that are dropped may leave a last page that a window of 1 has moved past: it is not there.
TEST(CacheParts, ALastPageMayBeMissing) {
  const KvSpec spec{
      .layers = {{.kv_heads = 1, .head_dim = 16}, {.kv_heads = 1, .head_dim = 16, .window = 1}}};
  std::vector<std::unique_ptr<KvCache>> caches;
  caches.push_back(std::make_unique<DynamicCache>(spec));
  caches.push_back(
      std::make_unique<QuantizedCache>(spec, QuantizedCacheOptions{.residual_length = 128}));
  for (const auto& cache : caches) {
    append(*cache, spec, make_tokens(1, 150));
    cache->truncate(37);
    EXPECT_TRUE(cache->can_truncate(37)) << cache->kind();
    const auto copy = put_together(spec, take_apart(*cache), "test");
    EXPECT_EQ(copy->length(), 37) << cache->kind();
    EXPECT_EQ(copy->bytes(), cache->bytes()) << cache->kind();
    const History next = make_tokens(2, 200);
    EXPECT_EQ(append(*copy, spec, next), append(*cache, spec, next)) << cache->kind();
    EXPECT_EQ(copy->bytes(), cache->bytes()) << cache->kind();
  }
}

// What was coded, what was not yet, and what a window dropped before it was.
TEST(CacheParts, AQuantizedCacheGoesOnWherePagesWereNeverCoded) {
  const KvSpec spec{
      .layers = {{.kv_heads = 1, .head_dim = 16}, {.kv_heads = 1, .head_dim = 16, .window = 40}}};
  QuantizedCache cache(spec, {.nbits = 4, .residual_length = 128});
  for (std::uint64_t i = 0; i < 191; ++i) append(cache, spec, make_tokens(i, 1));
  const auto copy = put_together(spec, take_apart(cache), "test");
  EXPECT_EQ(copy->bytes(), cache.bytes());
  for (const std::int64_t tokens : {1, 1, 100}) {
    const History next = make_tokens(static_cast<std::uint64_t>(1000 + tokens), tokens);
    EXPECT_EQ(append(*copy, spec, next), append(cache, spec, next)) << cache.length();
  }
  EXPECT_EQ(copy->bytes(), cache.bytes());
}

TEST(CacheParts, ALengthThatThePagesDoNotHaveIsRefused) {
  const KvSpec spec{.layers = {{.kv_heads = 1, .head_dim = 16}}};
  QuantizedCache cache(spec, {.nbits = 4, .residual_length = 32});
  append(cache, spec, make_tokens(1, 100));
  CacheParts parts = take_apart(cache);
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{96},
                                    std::int64_t{129}, std::int64_t{1} << 62}) {
    parts.length = length;
    try {
      put_together(spec, parts, "test");
      ADD_FAILURE() << length;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt) << error.what();
    }
  }
}

}  // namespace
}  // namespace quire::testing
