// SPDX-License-Identifier: Apache-2.0
// What every cache class must do, ours and a user's own.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>

#include <algorithm>
#include <random>

#include "kernels/thread_pool.h"
#include "tests/kv/classes.h"

namespace quire::testing {
namespace {

// ATen's own threads only get in each other's way on tensors this small.
const bool kOneThread = (at::set_num_threads(1), true);

class Conformance : public ::testing::TestWithParam<CacheClass> {
 protected:
  std::unique_ptr<KvCache> make() const { return GetParam().make(spec_); }

  // Appends and adds to the history.
  Outputs append_to(KvCache& cache, History& history, const History& tokens,
                    const PassOptions& options = {}) const {
    history.insert(history.end(), tokens.begin(), tokens.end());
    return append(cache, spec_, tokens, options);
  }

  // Compares a pass's outputs, for its first and last token, with the naive reference.
  void expect_right(const Outputs& outputs, const History& history, std::int64_t tokens,
                    float softcap = 0) const {
    const float* from = outputs.data();
    for (std::int64_t layer = 0; layer < std::ssize(spec_.layers); ++layer) {
      const KvLayer& shape = spec_.layers[static_cast<std::size_t>(layer)];
      const std::int64_t row = shape.kv_heads * kGroup * shape.head_dim;
      for (const std::int64_t t : {std::int64_t{0}, tokens - 1}) {
        const std::int64_t position = std::ssize(history) - tokens + t;
        const std::vector<double> expected =
            naive_attention(effective_, layer, history, position, softcap, GetParam().coding);
        double worst = 0;
        for (std::int64_t i = 0; i < row; ++i) {
          const double error =
              static_cast<double>(from[t * row + i]) - expected[static_cast<std::size_t>(i)];
          worst = std::max(worst, std::isnan(error) ? 1e30 : std::abs(error));
        }
        ASSERT_LE(worst, GetParam().tolerance) << "layer " << layer << " position " << position;
      }
      from += tokens * row;
    }
  }

  void expect_same(const Outputs& a, const Outputs& b) const {
    if (GetParam().by_kernels) {
      EXPECT_TRUE(a == b) << "not the same to the bit";
      return;
    }
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], GetParam().tolerance);
  }

  const KvSpec spec_ = test_spec(GetParam().dtype);
  const KvSpec effective_ = effective_spec(GetParam(), spec_);
};

TEST_P(Conformance, LengthCountsTokens) {
  auto cache = make();
  EXPECT_EQ(cache->length(), 0);
  append(*cache, spec_, make_tokens(1, 5));
  EXPECT_EQ(cache->length(), 5);
  append(*cache, spec_, make_tokens(2, 70));
  EXPECT_EQ(cache->length(), 75);
  append(*cache, spec_, make_tokens(3, 0));
  EXPECT_EQ(cache->length(), 75);
}

TEST_P(Conformance, AttentionIsRight) {
  auto cache = make();
  History history;
  for (const std::int64_t tokens : {1, 1, 30, 1, 64, 200, 1, 7, 33, 1}) {
    const Outputs outputs =
        append_to(*cache, history, make_tokens(static_cast<std::uint64_t>(history.size()), tokens));
    expect_right(outputs, history, tokens);
  }
}

TEST_P(Conformance, SoftcapIsRight) {
  auto cache = make();
  History history;
  for (const std::int64_t tokens : {50, 1}) {
    const Outputs outputs = append_to(*cache, history, make_tokens(4, tokens), {.softcap = 2});
    expect_right(outputs, history, tokens, 2);
  }
}

// However a text is cut into passes and whoever computes: the same results.
TEST_P(Conformance, PassesAndThreadsDoNotMatter) {
  const History tokens = make_tokens(5, 300);
  auto whole = make();
  const Outputs all = append(*whole, spec_, tokens);
  ThreadPool threads(3);
  for (const std::int64_t step : {1, 7, 32, 100}) {
    auto cache = make();
    std::vector<Outputs> parts;
    for (std::int64_t first = 0; first < std::ssize(tokens); first += step) {
      const std::int64_t count = std::min(step, std::ssize(tokens) - first);
      const std::span<const std::uint64_t> part = std::span(tokens).subspan(
          static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      parts.push_back(append(*cache, spec_, part, {.threads = step == 7 ? nullptr : &threads}));
    }
    Outputs joined;
    std::vector<std::size_t> offsets(parts.size());
    for (const KvLayer& shape : spec_.layers) {
      const auto row = static_cast<std::size_t>(shape.kv_heads * kGroup * shape.head_dim);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t count = std::min(static_cast<std::size_t>(step),
                                           tokens.size() - i * static_cast<std::size_t>(step));
        const auto from = parts[i].begin() + static_cast<std::ptrdiff_t>(offsets[i]);
        joined.insert(joined.end(), from, from + static_cast<std::ptrdiff_t>(count * row));
        offsets[i] += count * row;
      }
    }
    expect_same(joined, all);
  }
}

TEST_P(Conformance, TruncateThenGoOnEqualsNeverHavingGoneOn) {
  const History start = make_tokens(6, 100);
  const History next = make_tokens(7, 9);
  for (std::int64_t n = 0; n <= 100; ++n) {
    auto cache = make();
    append(*cache, spec_, start);
    if (!cache->can_truncate(n)) continue;
    cache->truncate(n);
    ASSERT_EQ(cache->length(), n);
    auto fresh = make();
    append(*fresh, spec_, std::span(start).first(static_cast<std::size_t>(n)));
    expect_same(append(*cache, spec_, next), append(*fresh, spec_, next));
  }
}

TEST_P(Conformance, TheLastTokenCanBeDroppedAtThePageItOpened) {
  auto cache = make();
  append(*cache, spec_, make_tokens(8, 65));
  EXPECT_TRUE(cache->can_truncate(64));
  cache->drop_last(1);
  EXPECT_EQ(cache->length(), 64);
}

TEST_P(Conformance, TruncationOutsideIsRefused) {
  auto cache = make();
  append(*cache, spec_, make_tokens(9, 10));
  EXPECT_FALSE(cache->can_truncate(-1));
  EXPECT_FALSE(cache->can_truncate(11));
  EXPECT_TRUE(cache->can_truncate(0));
  EXPECT_TRUE(cache->can_truncate(10));
  EXPECT_THROW(cache->drop_last(11), Error);
  EXPECT_THROW(cache->drop_last(-1), Error);
  EXPECT_EQ(cache->length(), 10);
}

TEST_P(Conformance, ForkAndParentAreIndependent) {
  for (const bool copy : {false, true}) {
    const History start = make_tokens(10, 77);
    auto parent = make();
    auto control = make();
    append(*parent, spec_, start);
    append(*control, spec_, start);
    auto child = copy ? parent->clone() : parent->fork();
    EXPECT_EQ(child->length(), 77);
    History history = start;
    const History other = make_tokens(11, 50);
    const Outputs outputs = append_to(*child, history, other);
    expect_right(outputs, history, 50);
    EXPECT_EQ(parent->length(), 77);
    const History next = make_tokens(12, 40);
    expect_same(append(*parent, spec_, next), append(*control, spec_, next));
    // And the child, after the parent has gone another way, and then away.
    parent.reset();
    const Outputs later = append_to(*child, history, make_tokens(13, 3));
    expect_right(later, history, 3);
  }
}

TEST_P(Conformance, ResetStartsAnew) {
  auto cache = make();
  append(*cache, spec_, make_tokens(14, 90));
  cache->reset();
  EXPECT_EQ(cache->length(), 0);
  History history;
  const Outputs outputs = append_to(*cache, history, make_tokens(15, 20));
  expect_right(outputs, history, 20);
}

TEST_P(Conformance, RollbackIsAsIfThePassHadNotBeen) {
  for (const std::int64_t before : {0, 1, 32, 45, 96}) {
    auto cache = make();
    auto control = make();
    const History start = make_tokens(16, before);
    append(*cache, spec_, start);
    append(*control, spec_, start);
    append_without_commit(*cache, spec_, make_tokens(17, 75));
    cache->rollback();
    ASSERT_EQ(cache->length(), before);
    const History next = make_tokens(18, 75);
    expect_same(append(*cache, spec_, next), append(*control, spec_, next));
  }
}

TEST_P(Conformance, ThousandRandomOperations) {
  struct Live {
    std::unique_ptr<KvCache> cache;
    History history;
  };
  std::mt19937 random(20);
  std::vector<Live> all;
  all.push_back({make(), {}});
  const auto below = [&random](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int operation = 0; operation < 1000; ++operation) {
    Live& live = all[static_cast<std::size_t>(below(std::ssize(all)))];
    const std::int64_t length = std::ssize(live.history);
    switch (below(10)) {
      case 0: {
        const std::int64_t n = below(length + 1);
        if (!live.cache->can_truncate(n)) {
          EXPECT_THROW(live.cache->truncate(n), Error);
          break;
        }
        live.cache->truncate(n);
        live.history.resize(static_cast<std::size_t>(n));
        break;
      }
      case 1:
        all.push_back({below(2) == 0 ? live.cache->fork() : live.cache->clone(), live.history});
        if (all.size() > 6) all.erase(all.begin() + below(6));
        break;
      case 2:
        if (below(8) != 0) break;
        live.cache->reset();
        live.history.clear();
        break;
      case 3:
        append_without_commit(*live.cache, spec_, make_tokens(random(), 1 + below(40)));
        live.cache->rollback();
        break;
      default: {
        if (length > 350) break;
        const std::int64_t tokens = 1 + below(below(3) == 0 ? 60 : 4);
        const Outputs outputs = append_to(*live.cache, live.history, make_tokens(random(), tokens));
        expect_right(outputs, live.history, tokens);
        if (HasFatalFailure()) return;
      }
    }
    for (const Live& one : all) ASSERT_EQ(one.cache->length(), std::ssize(one.history));
  }
}

TEST_P(Conformance, WrongTensorsAreRefused) {
  auto cache = make();
  EXPECT_THROW(cache->prepare(-1), Error);
  EXPECT_EQ(cache->length(), 0);
  History history;
  const Outputs outputs = append_to(*cache, history, make_tokens(19, 4));
  expect_right(outputs, history, 4);
}

INSTANTIATE_TEST_SUITE_P(EveryClass, Conformance, ::testing::ValuesIn(cache_classes()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace quire::testing
