// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/page_pool.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/kv/classes.h"

namespace quire::testing {
namespace {

using ::testing::HasSubstr;

// Bytes of a page of every layer group of test_spec(kF32).
constexpr std::int64_t kPagesBytes = 32 * 4 * (2 * 2 * (2 * 16) + 2 * 24);

std::shared_ptr<PagePool> make_pool(std::int64_t pages) {
  return std::make_shared<PagePool>(test_spec(DType::kF32),
                                    PagePoolOptions{.max_bytes = pages * kPagesBytes});
}

template <typename Function>
ErrorCode code_of(const Function& function, std::string* message = nullptr) {
  try {
    function();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  ADD_FAILURE() << "expected an Error";
  return ErrorCode::kIo;
}

TEST(PagePool, RefusesOptionsThatMakeNoSense) {
  const KvSpec spec = test_spec(DType::kF32);
  for (const std::int64_t size : {0, 8, 31, 128}) {
    EXPECT_EQ(code_of([&] { PagePool(spec, {.block_size = size}); }), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(code_of([&] { PagePool(spec, {.max_bytes = -1}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { PagePool(KvSpec{}); }), ErrorCode::kInvalidArgument);
  KvSpec automatic = spec;
  automatic.dtype = DType::kAuto;
  EXPECT_EQ(code_of([&] { PagePool{automatic}; }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([] { DynamicCache(std::shared_ptr<PagePool>()); }),
            ErrorCode::kInvalidArgument);
}

TEST(PagePool, CountsWhatIsHeld) {
  const KvSpec spec = test_spec(DType::kF32);
  const auto pool = make_pool(100);
  {
    DynamicCache cache(pool);
    EXPECT_EQ(pool->used_bytes(), 0);
    append(cache, spec, make_tokens(1, 33));
    EXPECT_EQ(pool->used_bytes(), 2 * kPagesBytes);
    EXPECT_EQ(cache.bytes(), 2 * kPagesBytes);
    EXPECT_EQ(cache.shared_bytes(), 0);
    const auto fork = cache.fork();
    EXPECT_EQ(pool->used_bytes(), 2 * kPagesBytes);  // no byte of keys or values was copied
    EXPECT_EQ(cache.shared_bytes(), 2 * kPagesBytes);
    append(*fork, spec, make_tokens(2, 1));
    EXPECT_EQ(pool->used_bytes(), 3 * kPagesBytes);  // the page written to, and no other
    EXPECT_EQ(cache.shared_bytes(), kPagesBytes);
    const auto copy = cache.clone();
    EXPECT_EQ(pool->used_bytes(), 5 * kPagesBytes);
    cache.reset();
    EXPECT_EQ(pool->used_bytes(), 4 * kPagesBytes);
  }
  EXPECT_EQ(pool->used_bytes(), 0);
}

TEST(PagePool, RunningOutChangesNothing) {
  const KvSpec spec = test_spec(DType::kF32);
  const auto pool = make_pool(4);
  DynamicCache first(pool);
  DynamicCache second(pool);
  append(first, spec, make_tokens(3, 64));
  append(second, spec, make_tokens(4, 40));
  std::string message;
  EXPECT_EQ(code_of([&] { first.prepare(1); }, &message), ErrorCode::kOutOfPages);
  const std::string budget = std::to_string(4 * kPagesBytes);
  EXPECT_THAT(message, HasSubstr("budget of " + budget));
  EXPECT_THAT(message, HasSubstr("found " + budget));
  EXPECT_THAT(message, HasSubstr("room for " + std::to_string(kPagesBytes)));
  EXPECT_EQ(first.length(), 64);
  EXPECT_EQ(pool->used_bytes(), 4 * kPagesBytes);
  EXPECT_EQ(code_of([&] { (void)first.clone(); }), ErrorCode::kOutOfPages);
  EXPECT_EQ(pool->used_bytes(), 4 * kPagesBytes);

  // The other goes on within its page, and what it gives back can be used.
  append(second, spec, make_tokens(5, 24));
  second.reset();
  append(first, spec, make_tokens(6, 1));
  EXPECT_EQ(first.length(), 65);
  first.reset();
  EXPECT_EQ(pool->used_bytes(), 0);
}

TEST(PagePool, RollbackGivesBack) {
  const KvSpec spec = test_spec(DType::kF32);
  const auto pool = make_pool(10);
  DynamicCache cache(pool);
  append(cache, spec, make_tokens(7, 10));
  const auto fork = cache.fork();
  append_without_commit(cache, spec, make_tokens(8, 100));
  EXPECT_EQ(pool->used_bytes(), 5 * kPagesBytes);  // the shared page, its copy and three more
  cache.rollback();
  EXPECT_EQ(pool->used_bytes(), kPagesBytes);
  EXPECT_EQ(cache.shared_bytes(), kPagesBytes);
}

TEST(PagePool, SixteenForksOfAPromptCostLittle) {
  const KvSpec spec{.layers = {{.kv_heads = 1, .head_dim = 16}}};
  const auto pool = std::make_shared<PagePool>(spec);
  DynamicCache prompt(pool);
  append(prompt, spec, make_tokens(9, 2000));
  std::vector<std::unique_ptr<KvCache>> forks;
  for (std::uint64_t i = 0; i < 16; ++i) {
    forks.push_back(prompt.fork());
    append(*forks.back(), spec, make_tokens(100 + i, 20));
  }
  EXPECT_LT(2 * pool->used_bytes(), 3 * forks.front()->bytes());
}

TEST(PagePool, LayersWithAWindowKeepOnlyThat) {
  const KvSpec spec{.layers = {{.kv_heads = 1, .head_dim = 16, .window = 40}}};
  const auto pool = std::make_shared<PagePool>(spec);
  DynamicCache cache(pool);
  for (std::uint64_t i = 0; i < 200; ++i) {
    append(cache, spec, make_tokens(i, 7));
    ASSERT_LE(pool->used_bytes(), (40 + 3 * 32) * spec.bytes_per_token());
    ASSERT_TRUE(cache.can_truncate(std::max<std::int64_t>(0, cache.length() - 32)));
  }
  EXPECT_FALSE(cache.can_truncate(500));
  EXPECT_EQ(code_of([&] { cache.truncate(500); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(cache.length(), 1400);
  cache.truncate(1368);
  EXPECT_EQ(cache.length(), 1368);
}

TEST(PagePool, MisuseIsRefusedAndHarmless) {
  const KvSpec spec = test_spec(DType::kF32);
  DynamicCache cache(spec);
  append(cache, spec, make_tokens(10, 5));
  append_without_commit(cache, spec, make_tokens(11, 5));
  EXPECT_EQ(code_of([&] { cache.prepare(1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { cache.truncate(1); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)cache.fork(); }), ErrorCode::kInvalidArgument);
  cache.commit();
  EXPECT_EQ(cache.length(), 10);
  cache.rollback();  // nothing to undo
  EXPECT_EQ(cache.length(), 10);
}

// Forks write, fork and go away on threads of their own while the pool counts.
TEST(PagePool, ForksOnThreads) {
  const KvSpec spec = test_spec(DType::kF32);
  const auto pool = make_pool(0);
  const History start = make_tokens(12, 50);
  Outputs expected;
  {
    DynamicCache parent(pool);
    append(parent, spec, start);
    DynamicCache control(spec);
    append(control, spec, start);
    expected = append(control, spec, make_tokens(13, 20));
    std::vector<Outputs> results(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&, i, mine = std::shared_ptr<KvCache>(parent.fork())] {
        for (int round = 0; round < 20; ++round) {
          const auto fork = mine->fork();
          results[i] = append(*fork, spec, make_tokens(13, 20));
          fork->clone()->reset();
        }
      });
    }
    parent.reset();
    for (std::thread& thread : threads) thread.join();
    for (const Outputs& result : results) EXPECT_TRUE(result == expected);
  }
  EXPECT_EQ(pool->used_bytes(), 0);
}

// Threads compete for a budget that is too small for all of them.
TEST(PagePool, BudgetOnThreads) {
  const KvSpec spec = test_spec(DType::kF32);
  const auto pool = make_pool(6);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      DynamicCache cache(pool);
      for (std::uint64_t round = 0; round < 30; ++round) {
        const std::int64_t before = cache.length();
        try {
          append(cache, spec, make_tokens(100 * i + round, 20));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kOutOfPages);
          EXPECT_EQ(cache.length(), before);
          cache.reset();
        }
        EXPECT_LE(pool->used_bytes(), 6 * kPagesBytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->used_bytes(), 0);
}

}  // namespace
}  // namespace quire::testing
