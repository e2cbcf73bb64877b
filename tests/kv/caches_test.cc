// SPDX-License-Identifier: Apache-2.0
// What each class promises beyond the conformance suite.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/static_cache.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/kv/classes.h"

namespace quire::testing {
namespace {

template <typename Function>
ErrorCode code_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "expected an Error";
  return ErrorCode::kIo;
}

TEST(StaticCache, RefusesWhatDoesNotFitBeforeAnythingChanges) {
  const KvSpec spec = test_spec(DType::kF32);
  StaticCache cache(spec, {.max_length = 40});
  EXPECT_EQ(cache.capacity(), 40);
  append(cache, spec, make_tokens(1, 30));
  const auto bytes = static_cast<std::size_t>(cache.bytes());
  std::vector<char> before(bytes);
  std::memcpy(before.data(), cache.data(), bytes);
  EXPECT_EQ(code_of([&] { cache.prepare(11); }), ErrorCode::kContextOverflow);
  EXPECT_EQ(code_of([&] { cache.prepare(KvCache::kUnlimited); }), ErrorCode::kContextOverflow);
  EXPECT_EQ(cache.length(), 30);
  EXPECT_EQ(std::memcmp(before.data(), cache.data(), bytes), 0);
  append(cache, spec, make_tokens(2, 10));
  EXPECT_EQ(cache.length(), 40);
}

TEST(StaticCache, NeverMovesNorGrows) {
  const KvSpec spec = test_spec(DType::kBF16);
  StaticCache cache(spec, {.max_length = 64});
  const void* data = cache.data();
  const std::int64_t bytes = cache.bytes();
  EXPECT_EQ(bytes, 64 * spec.bytes_per_token());
  append(cache, spec, make_tokens(3, 64));
  cache.reset();
  append(cache, spec, make_tokens(4, 1));
  EXPECT_EQ(cache.data(), data);
  EXPECT_EQ(cache.bytes(), bytes);
  const auto fork = cache.fork();
  EXPECT_EQ(fork->capacity(), 64);
  EXPECT_NE(dynamic_cast<StaticCache&>(*fork).data(), data);
}

TEST(StaticCache, NeedsALength) {
  EXPECT_EQ(code_of([] { StaticCache(test_spec(DType::kF32), {}); }), ErrorCode::kInvalidArgument);
}

// Lengths whose bytes, counted in 64 bits, would come out as few or as less than none.
TEST(StaticCache, RefusesMoreBytesThanCanBeCounted) {
  KvSpec spec{.layers = {{.kv_heads = 1, .head_dim = 16}}};  // 4096 bytes for 32 tokens
  const auto make = [&spec](std::int64_t max_length) {
    return code_of([&] { StaticCache(spec, {.max_length = max_length}); });
  };
  EXPECT_EQ(make((std::int64_t{1} << 57) + 32), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make(KvCache::kUnlimited), ErrorCode::kInvalidArgument);
  spec.layers.push_back({.kv_heads = 1, .head_dim = 16, .window = 40});
  EXPECT_EQ(make((std::int64_t{1} << 55) + 32), ErrorCode::kInvalidArgument) << "of both groups";
}

TEST(StaticCache, AndSlidingCacheEqualDynamicCacheToTheBit) {
  const KvSpec spec = test_spec(DType::kBF16);
  DynamicCache dynamic(spec);
  StaticCache fixed(spec, {.max_length = 400});
  SlidingCache sliding(spec, {.window = 400});
  DynamicCache small_pages(spec, {.block_size = 16});
  for (const std::int64_t tokens : {300, 1, 20}) {
    const History next = make_tokens(static_cast<std::uint64_t>(tokens), tokens);
    const Outputs expected = append(dynamic, spec, next);
    EXPECT_TRUE(append(fixed, spec, next) == expected);
    EXPECT_TRUE(append(sliding, spec, next) == expected);
    EXPECT_TRUE(append(small_pages, spec, next) == expected);
  }
}

TEST(SlidingCache, MemoryIsBounded) {
  const KvSpec spec = test_spec(DType::kF32);
  SlidingCache cache(spec, {.window = 70, .pages = {.block_size = 16}});
  for (std::uint64_t i = 0; i < 300; ++i) {
    append(cache, spec, make_tokens(i, 5));
    ASSERT_LE(cache.bytes(), (70 + 3 * 16) * spec.bytes_per_token());
  }
  EXPECT_EQ(cache.length(), 1500);
  EXPECT_TRUE(cache.can_truncate(1484));
  EXPECT_FALSE(cache.can_truncate(1300));
  EXPECT_TRUE(cache.can_truncate(0));
  EXPECT_EQ(code_of([&] { SlidingCache(spec, {}); }), ErrorCode::kInvalidArgument);
}

// SmolLM2's shape. Scales, zeros and full-precision pages are counted.
TEST(QuantizedCache, BytesAt1024Tokens) {
  KvSpec spec{.layers = std::vector<KvLayer>(2, {.kv_heads = 3, .head_dim = 64}),
              .dtype = DType::kBF16};
  const auto full = static_cast<double>(1024 * spec.bytes_per_token());
  for (const auto& [bits, share] : {std::pair{8, 0.60}, {4, 0.36}, {2, 0.24}}) {
    QuantizedCache cache(spec, {.nbits = bits});
    append(cache, spec, make_tokens(5, 1024));
    EXPECT_LE(static_cast<double>(cache.bytes()) / full, share) << bits << " bits";
    RecordProperty("share_" + std::to_string(bits),
                   std::to_string(static_cast<double>(cache.bytes()) / full));
  }
}

TEST(QuantizedCache, TruncatesWhereFullPrecisionIsLeft) {
  const KvSpec spec{.layers = {{.kv_heads = 1, .head_dim = 16}}};
  QuantizedCache cache(spec, {.nbits = 4, .residual_length = 32});
  append(cache, spec, make_tokens(6, 140));
  for (const std::int64_t n : {0, 1, 31, 32, 64, 96, 128, 129, 140}) {
    EXPECT_TRUE(cache.can_truncate(n)) << n;
  }
  for (const std::int64_t n : {33, 63, 65, 97, 127}) EXPECT_FALSE(cache.can_truncate(n)) << n;
  EXPECT_EQ(code_of([&] { cache.truncate(97); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(cache.length(), 140);
}

// Behind a window pages are given back, in full precision or coded.
TEST(QuantizedCache, WindowsBoundItsMemory) {
  const KvSpec spec{.layers = {{.kv_heads = 1, .head_dim = 16, .window = 40}}};
  QuantizedCache cache(spec, {.nbits = 4});
  for (std::uint64_t i = 0; i < 100; ++i) {
    append(cache, spec, make_tokens(i, 7));
    ASSERT_LE(cache.bytes(), (40 + 3 * 32) * spec.bytes_per_token());
  }
  EXPECT_TRUE(cache.can_truncate(672));
  EXPECT_FALSE(cache.can_truncate(640));
}

// With a window shorter than residual_length no token ever sees a code: all is as in a
// DynamicCache.
class QuantizedBehindAWindow : public ::testing::Test {
 protected:
  void expect_same_next(std::uint64_t seed, std::int64_t count) {
    const History tokens = make_tokens(seed, count);
    ASSERT_EQ(append(cache_, spec_, tokens), append(full_, spec_, tokens)) << cache_.length();
    ASSERT_EQ(cache_.bytes(), full_.bytes()) << cache_.length();
  }

  const KvSpec spec_{.layers = {{.kv_heads = 1, .head_dim = 16, .window = 40}}};
  QuantizedCache cache_{spec_, {.nbits = 4, .residual_length = 128}};
  DynamicCache full_{spec_};
};

TEST_F(QuantizedBehindAWindow, PagesThatAreGoneAreNotCoded) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    expect_same_next(i, 1);
    if (HasFatalFailure()) return;
  }
  expect_same_next(200, 33);
  expect_same_next(201, 300);
  expect_same_next(202, 1);
}

TEST_F(QuantizedBehindAWindow, GoesBackAndOn) {
  for (std::uint64_t i = 0; i < 159; ++i) expect_same_next(i, 1);
  append_without_commit(cache_, spec_, make_tokens(200, 75));
  cache_.rollback();
  const auto checkpoint = cache_.checkpoint();
  append(cache_, spec_, make_tokens(201, 150));
  cache_.restore(*checkpoint);
  ASSERT_EQ(cache_.length(), 159);
  for (KvCache* cache : {static_cast<KvCache*>(&cache_), static_cast<KvCache*>(&full_)}) {
    ASSERT_TRUE(cache->can_truncate(130));
    cache->truncate(130);
  }
  expect_same_next(202, 100);
}

TEST(QuantizedCache, ForksShareCodes) {
  const KvSpec spec = test_spec(DType::kF32);
  QuantizedCache cache(spec, {.nbits = 8});
  append(cache, spec, make_tokens(7, 70));
  EXPECT_EQ(cache.shared_bytes(), 0);
  {
    const auto fork = cache.fork();
    EXPECT_EQ(cache.shared_bytes(), cache.bytes());
    append(*fork, spec, make_tokens(8, 1));
    EXPECT_LT(cache.shared_bytes(), cache.bytes());
    EXPECT_GT(cache.shared_bytes(), 0);
  }
  EXPECT_EQ(cache.shared_bytes(), 0);
}

TEST(QuantizedCache, RefusesOptionsThatMakeNoSense) {
  const KvSpec spec = test_spec(DType::kF32);
  const auto make = [&spec](QuantizedCacheOptions options) {
    return code_of([&] { QuantizedCache(spec, options); });
  };
  EXPECT_EQ(make({.nbits = 3}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({.q_group_size = 16}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({.residual_length = 33}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({.residual_length = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(make({.max_bytes = -1}), ErrorCode::kInvalidArgument);
}

TEST(QuantizedCache, BudgetIsKept) {
  const KvSpec spec = test_spec(DType::kF32);
  QuantizedCache cache(spec, {.max_bytes = 60 * spec.bytes_per_token()});
  append(cache, spec, make_tokens(9, 32));
  EXPECT_EQ(code_of([&] { cache.prepare(32); }), ErrorCode::kOutOfPages);
  EXPECT_EQ(cache.length(), 32);
  EXPECT_EQ(cache.bytes(), 32 * spec.bytes_per_token());
}

TEST(KvSpec, BytesPerToken) {
  EXPECT_EQ(test_spec(DType::kF32).bytes_per_token(), 2 * 4 * (2 * 16 + 24 + 2 * 16));
  EXPECT_EQ(test_spec(DType::kBF16).bytes_per_token(), 2 * 2 * (2 * 16 + 24 + 2 * 16));
}

TEST(DType, Names) {
  EXPECT_EQ(to_string(DType::kF32), "f32");
  EXPECT_EQ(to_string(DType::kBF16), "bf16");
  EXPECT_EQ(to_string(DType::kF16), "f16");
  EXPECT_EQ(to_string(DType::kAuto), "auto");
  EXPECT_EQ(to_string(Device::kCpu), "cpu");
  EXPECT_EQ(to_string(Device::kCuda), "cuda");
}

}  // namespace
}  // namespace quire::testing
