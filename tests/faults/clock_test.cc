// SPDX-License-Identifier: Apache-2.0
// Clocks that jump while the library works: answers stay right, nothing hangs, and what is over by
// the clock that a cache looks at is not served.
#include <quire/answer_cache.h>
#include <quire/prompt_cache.h>
#include <quire/semantic_cache.h>
#include <quire/session.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "kernels/thread_pool.h"
#include "tests/faults/survive.h"
#include "tests/semantic/fake_embedder.h"

namespace quire::faults {
namespace {

using namespace std::chrono_literals;
using WallClock = std::chrono::system_clock;

class Clocks : public Faults {};

// All levels with a time to live.
TEST_F(Clocks, Generate) {
  const auto use = [&] {
    PrefixCache prefixes({.block_size = 16, .ttl = 10min, .disk_path = folder_.file("pages")});
    PromptCache prompts({.ttl = 10min});
    Generator own(model_, {.threads = 1, .prefix_cache = &prefixes, .prompt_cache = &prompts});
    prompts.put("0", own.prefill(request_of(0)));
    for (const std::size_t prompt : {3, 3, 0}) {
      EXPECT_EQ(own.generate(request_of(prompt)).ids, reference_ids(prompt));
      prefixes.flush();
    }
    expect_no_pages(prefixes, prefix_model());
  };
  survive_jumps({[&] { empty(folder_.path()); }, use, [&](bool) { use(); }});
}

TEST_F(Clocks, Deadline) {
  survive_jumps(
      {[] {},
       [&] {
         Request request = request_of(2);
         request.deadline = std::chrono::steady_clock::now() + 10min;
         const Result result = generator_.generate(request);
         EXPECT_TRUE(result.ids == reference_ids(2) ||
                     result.finish_reason == FinishReason::kDeadline);
       },
       [&](bool) { EXPECT_EQ(generator_.generate(request_of(2)).ids, reference_ids(2)); }});
}

// The scheduler waits for callbacks and lets requests wait for each other.
TEST_F(Clocks, RequestsAtOnce) {
  std::unique_ptr<Generator> fresh;
  const auto use = [&] {
    std::vector<std::thread> callers;
    for (const std::size_t prompt : {0, 1, 1}) {
      callers.emplace_back([&, prompt] {
        const auto listen = [](std::string_view) { return Stream::kContinue; };
        EXPECT_EQ(fresh->generate(request_of(prompt), listen).ids, reference_ids(prompt));
      });
    }
    for (std::thread& caller : callers) caller.join();
  };
  survive_jumps({[&] {
                   fresh = std::make_unique<Generator>(
                       model_, GeneratorOptions{.threads = 2, .max_batch = 2});
                 },
                 use, [&](bool) { use(); }});
}

TEST_F(Clocks, ThreadPool) {
  ThreadPool threads(2);
  const auto use = [&] {
    std::atomic<int> shares = 0;
    for (int i = 0; i < 3; ++i) {
      threads.run([&](int part, int) {
        if (part > 0) std::this_thread::sleep_for(100us);  // the other one looks at the clock
        ++shares;
      });
    }
    EXPECT_EQ(shares, 6);
  };
  survive_jumps({[] {}, use, [&](bool) { use(); }});
}

TEST_F(Clocks, Session) {
  const auto model = Model::load(QUIRE_TEST_DATA "/chat");
  Generator own(model, {.threads = 1});
  Request settings;
  settings.max_new_tokens = 3;
  settings.ignore_eos = true;
  std::vector<TokenIds> expected;
  const auto use = [&] {
    Session session(own);
    std::vector<TokenIds> said;
    for (const char* text : {"Hi", "And?"}) said.push_back(session.say(text, settings).ids);
    return said;
  };
  expected = use();
  survive_jumps(
      {[] {}, [&] { EXPECT_EQ(use(), expected); }, [&](bool) { EXPECT_EQ(use(), expected); }});
}

// An entry ends at the latest `ttl` after the latest time that was seen while it was stored, and
// may be served if that is later than the earliest time that was seen while it was looked up.
constexpr auto kTtl = 1h;

template <typename Cache>
void expect_kept_by_the_clock(const std::function<std::unique_ptr<Cache>()>& make) {
  std::unique_ptr<Cache> cache;
  const SemanticEntry entry{.prompt = "q", .answer = {.response = "answer"}};
  WallClock::time_point end;
  const auto store = [&] {
    const auto before = WallClock::now();
    cache->store(entry);
    end = std::max(before, WallClock::now()) + kTtl;
  };
  // Whether it was served.
  const auto look_up = [&] {
    const auto before = WallClock::now();
    const auto answer = cache->lookup(SemanticQuery{.prompt = "q"});
    if (!answer) return false;
    EXPECT_EQ(answer->response, "answer");
    EXPECT_GE(answer->age.count(), 0);
    EXPECT_LT(std::min(before, WallClock::now()), end);
    return true;
  };
  survive_jumps({[&] {
                   cache = make();
                   store();
                 },
                 [&] {
                   look_up();
                   store();
                   look_up();
                   cache->store({.prompt = "another", .answer = {.response = "other"}});
                   look_up();
                 },
                 [&](bool) {
                   look_up();
                   store();
                   EXPECT_TRUE(look_up());
                 }});
}

TEST_F(Clocks, AnswerCache) {
  expect_kept_by_the_clock<AnswerCache>(
      [] { return std::make_unique<AnswerCache>(AnswerCacheOptions{.ttl = kTtl}); });
}

TEST_F(Clocks, SemanticCache) {
  expect_kept_by_the_clock<SemanticCache>([] {
    return std::make_unique<SemanticCache>(std::make_shared<testing::FakeEmbedder>(),
                                           SemanticCacheOptions{.ttl = kTtl});
  });
}

}  // namespace
}  // namespace quire::faults
