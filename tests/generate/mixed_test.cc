// SPDX-License-Identifier: Apache-2.0
// Everything at once: sixteen threads share one generator, a prefix cache too small for them, a
// prompt cache and a semantic cache, and each does what an application may. Made for the thread
// sanitizer; --gtest_repeat makes it last.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/prompt_cache.h>
#include <quire/semantic_cache.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/generate/models.h"
#include "tests/semantic/fake_embedder.h"

namespace quire {
namespace {

namespace fs = std::filesystem;

using test::tiny_model;

constexpr std::size_t kThreads = 16;
constexpr std::size_t kTurns = 12;  // a thread
constexpr std::int64_t kNew = 6;    // tokens an answer

struct Text {
  TokenIds ids;
  TokenIds answer;  // to all of it
};

// Families of texts that begin alike, with what a generator without any cache answers.
std::vector<Text> make_texts(const std::shared_ptr<const Model>& model) {
  std::mt19937 random(11);
  const auto draw = [&](std::size_t count) {
    TokenIds ids(count);
    for (TokenId& id : ids) id = static_cast<TokenId>(5 + random() % 50);
    return ids;
  };
  Generator alone(model, {.threads = 1, .prefix_cache_bytes = 0});
  std::vector<Text> texts;
  for (const std::size_t shared : {0, 3, 40, 70}) {
    const TokenIds prefix = draw(shared);
    for (int i = 0; i < 4; ++i) {
      Text text{prefix, {}};
      const TokenIds tail = draw(2 + random() % 30);
      text.ids.insert(text.ids.end(), tail.begin(), tail.end());
      Request request;
      request.ids = text.ids;
      request.max_new_tokens = kNew;
      request.ignore_eos = true;
      text.answer = alone.generate(request).ids;
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

// One thread's work. What is shared belongs to the test.
class Worker {
 public:
  Worker(Generator& generator, PromptCache& prompts, const std::vector<Text>& texts, unsigned seed)
      : generator_(generator), prompts_(prompts), texts_(texts), random_(seed), seed_(seed) {}

  void turn() {
    const Text& text = texts_[random_() % texts_.size()];
    switch (random_() % 8) {
      case 0:
        return generate(text);
      case 1:
        return go_back(text);
      case 2:
        return fork(text);
      case 3:
        return keep_on_disk(text);
      case 4:
        return from_prompt_cache(text);
      case 5:
        return reuse_answer(text);
      case 6:
        return be_alone(text);
      default:
        return miss_deadline(text);
    }
  }

 private:
  Request request_for(TokenIds ids) const {
    Request request;
    request.ids = std::move(ids);
    request.max_new_tokens = kNew;
    request.ignore_eos = true;
    return request;
  }

  void generate(const Text& text) {
    EXPECT_EQ(generator_.generate(request_for(text.ids)).ids, text.answer);
  }

  void go_back(const Text& text) {
    DynamicCache cache(generator_.model()->kv_spec());
    Request request = request_for(text.ids);
    request.cache = &cache;
    EXPECT_EQ(generator_.generate(request).ids, text.answer);
    const auto keep = static_cast<std::int64_t>(random_() % text.ids.size());
    cache.truncate(keep);
    request.ids = TokenIds(text.ids.begin() + keep, text.ids.end());
    EXPECT_EQ(generator_.generate(request).ids, text.answer);
  }

  void fork(const Text& text) {
    DynamicCache cache(generator_.model()->kv_spec());
    const std::size_t half = text.ids.size() / 2;
    Request request = request_for({text.ids.begin(), text.ids.begin() + static_cast<long>(half)});
    if (request.ids->empty()) return;
    request.cache = &cache;
    request.max_new_tokens = 1;
    generator_.generate(request);
    for (int i = 0; i < 2; ++i) {
      const auto copy = cache.fork();
      request = request_for({text.ids.begin() + static_cast<long>(half), text.ids.end()});
      request.cache = copy.get();
      EXPECT_EQ(generator_.generate(request).ids, text.answer);
    }
  }

  void keep_on_disk(const Text& text) {
    const fs::path file =
        fs::path(::testing::TempDir()) / ("quire_mixed_" + std::to_string(seed_) + ".quire");
    generator_.prefill(request_for(text.ids)).save(file);
    Request request = request_for({});
    request.snapshot = Snapshot::load(file, *generator_.model());
    EXPECT_EQ(generator_.generate(request).ids, text.answer);
    fs::remove(file);
  }

  void from_prompt_cache(const Text& text) {
    Request request = request_for({});
    request.snapshot = prompts_.prefill(generator_, request_for(text.ids));
    EXPECT_EQ(generator_.generate(request).ids, text.answer);
  }

  void reuse_answer(const Text& text) {
    Request request = request_for(text.ids);
    request.sampling = Sampling{};
    request.ignore_eos = false;
    request.eos = std::vector<TokenId>{text.answer.back()};
    request.reuse = AnswerReuse{};
    const TokenIds ids = generator_.generate(request).ids;
    EXPECT_TRUE(ids.size() <= text.answer.size() &&
                std::equal(ids.begin(), ids.end(), text.answer.begin()));
  }

  void be_alone(const Text& text) {
    Generator own(generator_.model(), {.threads = 1});
    EXPECT_EQ(own.generate(request_for(text.ids)).ids, text.answer);
  }

  void miss_deadline(const Text& text) {
    Request request = request_for(text.ids);
    request.deadline =
        std::chrono::steady_clock::now() + std::chrono::microseconds(random_() % 3000);
    const TokenIds ids = generator_.generate(request).ids;
    EXPECT_TRUE(ids.size() <= text.answer.size() &&
                std::equal(ids.begin(), ids.end(), text.answer.begin()));
  }

  Generator& generator_;
  PromptCache& prompts_;
  const std::vector<Text>& texts_;
  std::mt19937 random_;
  const unsigned seed_;
};

TEST(Mixed, SixteenThreadsDoEverythingAtOnce) {
  const auto model = tiny_model("llama");
  const std::vector<Text> texts = make_texts(model);
  const std::int64_t page = model->kv_spec().bytes_per_token() * 16;
  PrefixCache prefixes({.bytes = 8 * page, .block_size = 16});
  PromptCache prompts({.max_entries = 5});
  SemanticCache answers(std::make_shared<testing::FakeEmbedder>(), {.max_entries = 5});
  Generator generator(model, {.threads = 2,
                              .prefill_chunk = 24,
                              .shared_chunk = 7,
                              .max_batch = 6,
                              .prefix_cache = &prefixes,
                              .prompt_cache = &prompts,
                              .semantic_cache = &answers});
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> worked_ms{0};
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto start = std::chrono::steady_clock::now();
      Worker worker(generator, prompts, texts, static_cast<unsigned>(t));
      for (std::size_t i = 0; i < kTurns; ++i) worker.turn();
      worked_ms += std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::steady_clock::now() - start)
                       .count();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << "mixed: " << kThreads * kTurns << " turns, " << worked_ms << " thread-ms\n";
  EXPECT_LE(prefixes.stats().bytes, 8 * page);
  EXPECT_GT(prefixes.stats().evicted_blocks, 0);
}

}  // namespace
}  // namespace quire
