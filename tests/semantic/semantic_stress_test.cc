// SPDX-License-Identifier: Apache-2.0
// Many callers and many operations.
#include <gtest/gtest.h>
#include <quire/semantic_cache.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/semantic/fake_embedder.h"

namespace quire {
namespace {

using std::chrono::milliseconds;
using testing::FakeEmbedder;

std::shared_ptr<FakeEmbedder> fake() { return std::make_shared<FakeEmbedder>(); }

constexpr const char* kStored = "bramo cassel dintu folgar hespi jornak lemura";

TEST(SemanticCache, ConcurrentEqualMissesComputeOnce) {
  SemanticCache answers(fake());
  std::atomic<int> runs{0};
  std::vector<std::future<SemanticResult>> callers;
  for (int i = 0; i < 64; ++i) {
    callers.push_back(std::async(std::launch::async, [&] {
      return answers.get_or_compute({.prompt = kStored}, [&](const SemanticLookup&) {
        ++runs;
        std::this_thread::sleep_for(milliseconds(100));
        return StoredAnswer{.response = "once", .ids = {4, 2}};
      });
    }));
  }
  for (auto& caller : callers) {
    const SemanticResult result = caller.get();
    EXPECT_EQ(result.response, "once");
    EXPECT_EQ(result.ids, TokenIds({4, 2}));
  }
  EXPECT_EQ(runs, 1);
}

TEST(SemanticCache, AnAnswerThatIsCutOffServesThoseWhoWaitForIt) {
  SemanticCache answers(fake());
  std::atomic<int> runs{0};
  std::promise<void> all_ask;
  const std::shared_future<void> asked = all_ask.get_future().share();
  const auto ask = [&] {
    return answers.get_or_compute({.prompt = kStored}, [&](const SemanticLookup&) {
      ++runs;
      asked.wait();
      return StoredAnswer{.response = "cut", .ids = {4}, .finish_reason = FinishReason::kLength};
    });
  };
  std::vector<std::future<SemanticResult>> callers;
  for (int i = 0; i < 8; ++i) callers.push_back(std::async(std::launch::async, ask));
  std::this_thread::sleep_for(milliseconds(100));
  all_ask.set_value();
  for (auto& caller : callers) EXPECT_EQ(caller.get().response, "cut");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(answers.stats().entries, 0) << "later ones compute it";
}

TEST(SemanticCache, AFailedLeaderIsFollowedByTheNextWaiter) {
  SemanticCache answers(fake());
  std::atomic<int> runs{0};
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      try {
        const auto result =
            answers.get_or_compute({.prompt = kStored}, [&](const SemanticLookup&) -> StoredAnswer {
              std::this_thread::sleep_for(milliseconds(30));
              if (++runs <= 2) throw Error(ErrorCode::kIo, "model", "failed");
              return {.response = "third"};
            });
        EXPECT_EQ(result.response, "third");
      } catch (const Error&) {
        ++failures;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(failures, 2);
}

TEST(SemanticCache, WaitersKeepTheirOwnDeadlines) {
  SemanticCache answers(fake());
  std::promise<void> started;
  std::promise<void> go;
  std::thread leader([&] {
    answers.get_or_compute({.prompt = kStored}, [&](const SemanticLookup&) {
      started.set_value();
      go.get_future().wait();
      return StoredAnswer{.response = "late"};
    });
  });
  started.get_future().wait();
  const auto result = answers.get_or_compute(
      {.prompt = kStored}, [](const SemanticLookup&) { return StoredAnswer{.response = "never"}; },
      std::chrono::steady_clock::now() + milliseconds(20));
  EXPECT_EQ(result.finish_reason, FinishReason::kDeadline);
  EXPECT_TRUE(result.response.empty());
  go.set_value();
  leader.join();
  EXPECT_EQ(answers.lookup(kStored)->response, "late");
}

// 10,000 random operations against a plain list that is scanned for every look-up.
TEST(SemanticCache, EqualsANaiveScan) {
  auto embedder = fake();
  SemanticCache answers(embedder, {.threshold = 0.9, .candidates = 1, .guards = GuardSet::none()});
  std::map<std::string, std::pair<std::uint64_t, std::vector<double>>> naive;
  std::minstd_rand random(7);
  const auto word = [&] { return std::string(1, static_cast<char>('a' + random() % 12)); };
  const auto unit = [&](const std::string& text) {
    const std::vector<float> values = embedder->embed(text);
    double squares = 0;
    for (const float v : values) squares += static_cast<double>(v) * static_cast<double>(v);
    std::vector<double> result;
    for (const float v : values) result.push_back(static_cast<double>(v) / std::sqrt(squares));
    return result;
  };
  int hits = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string text = word() + " " + word() + " " + word() + " " + word() + " " + word();
    const unsigned action = random() % 3;
    if (action == 0) {
      naive[text] = {*answers.store(text, text), unit(text)};
    } else if (action == 1 && !naive.empty()) {
      const auto victim = std::next(naive.begin(), static_cast<int>(random() % naive.size()));
      EXPECT_TRUE(answers.remove(victim->second.first));
      naive.erase(victim);
    } else {
      double best = -1;
      const std::vector<double> asked = unit(text);
      for (const auto& [prompt, entry] : naive) {
        double dot = 0;
        for (std::size_t d = 0; d < asked.size(); ++d) dot += asked[d] * entry.second[d];
        best = std::max(best, dot);
      }
      const SemanticLookup found = answers.lookup(text);
      if (std::abs(best - 0.9) < 1e-5) continue;  // too near to the threshold to tell
      ASSERT_EQ(static_cast<bool>(found), best >= 0.9) << i;
      if (!found) continue;
      ++hits;
      EXPECT_NEAR(found->score, best, 1e-5);
      EXPECT_EQ(found->response, found->matched);
    }
  }
  EXPECT_GT(hits, 150);
  EXPECT_EQ(answers.stats().entries, std::ssize(naive));
}

TEST(SemanticCache, ManyThreadsStayWithinTheBytes) {
  constexpr std::int64_t kMost = 200 << 10;
  SemanticCache answers(fake(), {.threshold = 0.8, .max_bytes = kMost});
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&answers, t] {
      std::minstd_rand random(t + 1);
      for (int i = 0; i < 10000; ++i) {
        const SemanticScope scope{.vary = std::to_string(random() % 5)};
        const std::string text = "q" + std::to_string(random() % 200) + " bramo";
        const unsigned action = random() % 8;
        if (action < 2) {
          answers.store(text, text, scope);
        } else if (action == 2) {
          answers.remove(random() % 5000);
        } else if (action == 3) {
          answers.report_wrong(random() % 5000, 0.9);
        } else {
          const SemanticLookup found = answers.lookup(text, scope);
          EXPECT_TRUE(!found || found->response == found->matched);
        }
        EXPECT_TRUE(i % 100 != 0 || answers.stats().bytes <= kMost);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const SemanticStats stats = answers.stats();
  EXPECT_LE(stats.bytes, kMost);
  EXPECT_GT(stats.evicted, 0);
}

}  // namespace
}  // namespace quire
