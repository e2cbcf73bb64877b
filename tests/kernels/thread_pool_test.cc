// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_pool.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gmock/gmock.h"

namespace quire {
namespace {

TEST(ThreadPoolTest, DoesEveryPartOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(threads));
    pool.run([&](int part, int parts) {
      EXPECT_EQ(parts, threads);
      ++done[static_cast<std::size_t>(part)];
    });
    for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPoolTest, ZeroMeansOneThreadACore) {
  EXPECT_EQ(ThreadPool(0).size(), static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(ThreadPoolTest, TheCallerDoesPartZero) {
  ThreadPool pool(3);
  for (int i = 0; i < 100; ++i) {
    std::thread::id zero;
    pool.run([&](int part, int) {
      if (part == 0) zero = std::this_thread::get_id();
    });
    EXPECT_EQ(zero, std::this_thread::get_id());
  }
}

// Unequal parts, so that every order of claiming and finishing occurs. What a run wrote is visible
// to its caller and to the next run without further ordering.
TEST(ThreadPoolTest, ManyShortRuns) {
  ThreadPool pool(3);
  std::vector<std::int64_t> counts(3 * 64);
  std::atomic<int> waste{0};
  constexpr int kRuns = 20000;
  for (int i = 0; i < kRuns; ++i) {
    pool.run([&](int part, int) {
      for (int pause = (i * 7 + part * 5) % 11 * 10; pause > 0; --pause) {
        waste.fetch_add(1, std::memory_order_relaxed);
      }
      ++counts[static_cast<std::size_t>(part) * 64];
    });
    ASSERT_EQ(counts[0] + counts[64] + counts[128], 3 * (i + 1));
  }
}

TEST(ThreadPoolTest, RunsAfterTheWorkersFellAsleep) {
  ThreadPool pool(3);
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(i % 3 * 500));
    std::atomic<int> done{0};
    pool.run([&](int, int) { ++done; });
    ASSERT_EQ(done, 3);
  }
}

TEST(ThreadPoolTest, TwoPoolsWorkAtOnce) {
  ThreadPool pool(2);
  std::atomic<bool> release{false};
  std::atomic<bool> held{false};
  ThreadPool other(2);
  std::thread holder([&] {
    other.run([&](int, int) {
      held = true;
      while (!release) std::this_thread::yield();
    });
  });
  while (!held) std::this_thread::yield();
  std::atomic<int> done{0};
  pool.run([&](int, int) { ++done; });
  EXPECT_EQ(done, 2);
  release = true;
  holder.join();
}

TEST(ThreadPoolTest, ConcurrentCallersTakeTurns) {
  ThreadPool pool(2);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        pool.run([&](int, int) {
          const int now = ++inside;
          if (now > most) most = now;
          ++total;
          --inside;
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 300 * 2);
  EXPECT_LE(most, 2);
}

TEST(ThreadPoolTest, ARunInsideARunIsDoneInline) {
  ThreadPool pool(2);
  ThreadPool other(2);
  std::atomic<int> inner{0};
  pool.run([&](int, int) {
    const std::thread::id self = std::this_thread::get_id();
    pool.run([&](int, int) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++inner;
    });
  });
  EXPECT_EQ(inner, 4);
  pool.run([&](int, int) { other.run([&](int, int) { ++inner; }); });
  EXPECT_EQ(inner, 8);
}

TEST(ThreadPoolTest, AnExceptionReachesTheCallerAndThePoolGoesOn) {
  ThreadPool pool(3);
  for (int thrower = 0; thrower < 3; ++thrower) {
    std::atomic<int> done{0};
    EXPECT_THROW(pool.run([&](int part, int) {
      ++done;
      if (part == thrower) throw std::runtime_error("part");
    }),
                 std::runtime_error);
    EXPECT_EQ(done, 3);
    pool.run([&](int, int) { ++done; });
    EXPECT_EQ(done, 6);
  }
}

TEST(ThreadPoolTest, PoolsComeAndGo) {
  for (int i = 0; i < 200; ++i) {
    ThreadPool pool(3);
    if (i % 2 == 0) pool.run([](int, int) {});
  }
}

TEST(SliceTest, CoversEverythingOnceInGrains) {
  for (const std::int64_t count : {0, 1, 5, 16, 17, 100}) {
    for (const std::int64_t grain : {1, 4, 16}) {
      for (const int parts : {1, 2, 3, 9}) {
        std::int64_t next = 0;
        for (int part = 0; part < parts; ++part) {
          const Slice slice = slice_of(count, grain, part, parts);
          EXPECT_EQ(slice.first, next);
          EXPECT_TRUE(slice.first % grain == 0 || slice.first == count);
          EXPECT_LE(slice.first, slice.last);
          next = slice.last;
        }
        EXPECT_EQ(next, count);
      }
    }
  }
}

}  // namespace
}  // namespace quire
