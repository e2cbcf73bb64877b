// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/answer_cache.h>
#include <quire/error.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace quire {
namespace {

using namespace std::chrono_literals;

// A third level in memory, which can be told to fail.
class FakeLevel final : public CacheLevel<std::string, std::string> {
 public:
  std::optional<std::string> get(const std::string& key) override {
    const std::lock_guard lock(mutex);
    if (failing) throw std::runtime_error("gone");
    const auto found = values.find(key);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  void put(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(mutex);
    if (failing) throw std::runtime_error("gone");
    values[key] = value;
  }
  void erase(const std::string& key) override {
    const std::lock_guard lock(mutex);
    values.erase(key);
  }

  std::mutex mutex;
  std::map<std::string, std::string> values;
  bool failing = false;
};

SemanticQuery ask(const std::string& prompt, const std::string& tenant = "") {
  return {.prompt = prompt, .scope = {.name_space = tenant}};
}

SemanticEntry entry(const std::string& prompt, const StoredAnswer& answer) {
  return {.prompt = prompt, .answer = answer};
}

TEST(AnswerCache, ServesEqualQuestionsOnly) {
  AnswerCache answers;
  const StoredAnswer answer{
      .response = "Yes.", .ids = {4, 5}, .finish_reason = FinishReason::kStop, .stop = "\n"};
  EXPECT_FALSE(answers.lookup(ask("q")));
  EXPECT_TRUE(answers.store(entry("q", answer)));
  const auto found = answers.lookup(ask("q"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->response, answer.response);
  EXPECT_EQ(found->ids, answer.ids);
  EXPECT_EQ(found->finish_reason, answer.finish_reason);
  EXPECT_EQ(found->stop, answer.stop);
  EXPECT_FALSE(answers.lookup(ask("q ")));
  EXPECT_FALSE(answers.lookup(ask("q", "tenant")));
  EXPECT_FALSE(answers.lookup({.prompt = "q", .ids = {1}}));
  SemanticQuery varied = ask("q");
  varied.scope.vary = "de";
  EXPECT_FALSE(answers.lookup(varied));
  EXPECT_TRUE(answers.erase(ask("q")));
  EXPECT_FALSE(answers.erase(ask("q")));
  EXPECT_FALSE(answers.lookup(ask("q")));
}

TEST(AnswerCache, KeepsWholeAnswersOnly) {
  AnswerCache answers;
  for (const FinishReason reason :
       {FinishReason::kLength, FinishReason::kCancelled, FinishReason::kDeadline}) {
    EXPECT_FALSE(answers.store(entry("q", {.response = "cut", .finish_reason = reason})));
  }
  EXPECT_FALSE(answers.store(entry("q", {})));
  SemanticEntry tagged = entry("q", {.response = "r"});
  tagged.keep.tags = {"v1"};
  EXPECT_FALSE(answers.store(tagged));
  EXPECT_FALSE(answers.lookup(ask("q")));
  EXPECT_EQ(answers.stats().stored, 0);
}

TEST(AnswerCache, LevelsPromoteAndDemote) {
  AnswerCache answers({.levels = {.l1_entries = 100, .l2_entries = 1000}});
  for (int i = 0; i < 150; ++i) {
    answers.store(entry("key-" + std::to_string(i), {.response = std::to_string(i)}));
  }
  EXPECT_EQ(answers.lookup(ask("key-100"))->response, "100");
  EXPECT_EQ(answers.stats().levels.l1_hits, 1);
  EXPECT_EQ(answers.lookup(ask("key-20"))->response, "20");
  EXPECT_EQ(answers.stats().levels.l2_hits, 1);
  EXPECT_EQ(answers.stats().levels.promotions, 1);
  EXPECT_EQ(answers.stats().levels.demotions, 51);
}

TEST(AnswerCache, TimeToLive) {
  auto time = std::chrono::system_clock::time_point(1000s);
  const auto shared = std::make_shared<FakeLevel>();
  AnswerCache answers({.shared = shared, .ttl = 10s, .clock = [&] { return time; }});
  answers.store(entry("short", {.response = "a"}));
  SemanticEntry longer = entry("long", {.response = "b"});
  longer.keep.ttl = 20s;
  answers.store(longer);
  time += 9999ms;
  EXPECT_EQ(answers.lookup(ask("short"))->age, 9999ms);
  time += 1ms;
  EXPECT_FALSE(answers.lookup(ask("short")));
  EXPECT_EQ(answers.stats().expired, 1);
  EXPECT_EQ(shared->values.size(), 1U) << "gone from all levels";
  EXPECT_TRUE(answers.lookup(ask("long")));
  answers.clear();
  time += 10s;
  EXPECT_FALSE(answers.lookup(ask("long"))) << "from the shared level";
  EXPECT_THROW(AnswerCache({.ttl = 0s}), Error);
  EXPECT_THROW(AnswerCache({.levels = {.l1_entries = 0}}), Error);
  longer.keep.ttl = -1s;
  EXPECT_THROW(answers.store(longer), Error);
}

TEST(AnswerCache, AThirdLevelIsSharedAndMayFail) {
  const auto shared = std::make_shared<FakeLevel>();
  AnswerCache here({.shared = shared});
  AnswerCache there({.shared = shared});
  const StoredAnswer answer{
      .response = "R\0x", .ids = {1, -2}, .finish_reason = FinishReason::kStop, .stop = "s"};
  here.store(entry("q", answer));
  const auto found = there.lookup(ask("q"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->response, answer.response);
  EXPECT_EQ(found->ids, answer.ids);
  EXPECT_EQ(found->finish_reason, answer.finish_reason);
  EXPECT_EQ(found->stop, answer.stop);
  EXPECT_EQ(there.stats().levels.l3_hits, 1);
  EXPECT_TRUE(there.lookup(ask("q")));
  EXPECT_EQ(there.stats().levels.l1_hits, 1);
  shared->failing = true;
  EXPECT_FALSE(there.lookup(ask("other")));
  EXPECT_TRUE(there.store(entry("other", {.response = "r"})));
  EXPECT_TRUE(there.lookup(ask("other"))) << "from memory";
  EXPECT_EQ(there.stats().levels.l3_failures, 2);
}

TEST(AnswerCache, DamagedBytesAreAMiss) {
  const auto shared = std::make_shared<FakeLevel>();
  AnswerCache answers({.shared = shared});
  answers.store(entry("q", {.response = "response", .ids = {1, 2, 3}}));
  std::string& bytes = shared->values.begin()->second;
  const std::string good = bytes;
  std::int64_t damaged = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    answers.clear();
    EXPECT_FALSE(answers.lookup(ask("q"))) << i;
    bytes = good.substr(0, i);
    EXPECT_FALSE(answers.lookup(ask("q"))) << i;
    damaged += 2;
  }
  EXPECT_EQ(answers.stats().levels.l3_failures, damaged);
  bytes = good;
  EXPECT_TRUE(answers.lookup(ask("q")));
}

TEST(AnswerCache, ConcurrentEqualMissesComputeOnce) {
  AnswerCache answers;
  std::atomic<int> computed = 0;
  std::vector<std::future<CachedAnswer>> callers;
  for (int i = 0; i < 64; ++i) {
    callers.push_back(std::async(std::launch::async, [&] {
      return answers.get_or_compute(ask("q"), [&] {
        ++computed;
        std::this_thread::sleep_for(50ms);
        return StoredAnswer{.response = "r"};
      });
    }));
  }
  int own = 0;
  for (auto& caller : callers) {
    const CachedAnswer answer = caller.get();
    EXPECT_EQ(answer.response, "r");
    own += answer.computed ? 1 : 0;
    EXPECT_FALSE(answer.computed && answer.waited);
  }
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(own, 1);
}

TEST(AnswerCache, AFailureIsItsOwnCallersAlone) {
  AnswerCache answers;
  EXPECT_THROW(answers.get_or_compute(
                   ask("q"), []() -> StoredAnswer { throw std::runtime_error("no model"); }),
               std::runtime_error);
  const auto cut = answers.get_or_compute(ask("q"), [] {
    return StoredAnswer{.response = "cut", .finish_reason = FinishReason::kLength};
  });
  EXPECT_EQ(cut.response, "cut");
  EXPECT_TRUE(cut.computed);
  const auto whole = answers.get_or_compute(ask("q"), [] { return StoredAnswer{.response = "w"}; });
  EXPECT_EQ(whole.response, "w");
  const auto again = answers.get_or_compute(ask("q"), [] { return StoredAnswer{}; });
  EXPECT_EQ(again.response, "w");
  EXPECT_FALSE(again.computed);
}

TEST(AnswerCache, WaitersKeepTheirDeadlines) {
  AnswerCache answers;
  std::promise<void> started;
  std::promise<void> go;
  auto leader = std::async(std::launch::async, [&] {
    return answers.get_or_compute(ask("q"), [&] {
      started.set_value();
      go.get_future().wait();
      return StoredAnswer{.response = "r"};
    });
  });
  started.get_future().wait();
  const auto late = answers.get_or_compute(
      ask("q"), [] { return StoredAnswer{.response = "never"}; },
      std::chrono::steady_clock::now() + 10ms);
  EXPECT_EQ(late.finish_reason, FinishReason::kDeadline);
  EXPECT_TRUE(late.response.empty());
  EXPECT_TRUE(late.waited);
  go.set_value();
  EXPECT_EQ(leader.get().response, "r");
}

}  // namespace
}  // namespace quire
