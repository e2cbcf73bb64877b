// SPDX-License-Identifier: Apache-2.0
// Pages from a file equal computed ones, through Generator::generate() and Session.
#include <gtest/gtest.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/session.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tests/generate/models.h"

namespace quire {
namespace {

using test::smollm2;
using test::tiny_model;

class TierModels : public ::testing::TestWithParam<const char*> {
 protected:
  TierModels() {
    std::string name = (std::filesystem::temp_directory_path() / "quire-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~TierModels() override { std::filesystem::remove_all(folder_); }
  std::string file() const { return folder_ / "pages.db"; }

 private:
  std::filesystem::path folder_;
};

Request request_of(TokenIds ids) {
  Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = 6;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  request.logprobs = 1;
  return request;
}

TEST_P(TierModels, WarmFromDiskEqualsColdBitForBit) {
  const auto model = tiny_model(GetParam());
  Generator cold(model, {.threads = 1, .prefix_cache_bytes = 0});
  const auto room = static_cast<std::size_t>(std::min<std::int64_t>(model->config().context, 300));
  std::mt19937 random(13);
  std::vector<TokenIds> texts;
  std::int64_t from_disk = 0;
  for (int restart = 0; restart < 3; ++restart) {
    PrefixCache prefixes({.block_size = 16, .disk_path = file()});
    Generator warm(model, {.threads = 1, .prefill_chunk = 24, .prefix_cache = &prefixes});
    for (int step = 0; step < 8; ++step) {
      TokenIds ids;
      if (!texts.empty()) {
        ids = texts[random() % texts.size()];
        ids.resize(random() % (ids.size() + 1));
      }
      for (std::size_t more = 1 + random() % 60; more > 0; --more) {
        ids.push_back(static_cast<TokenId>(3 + random() % 60));
      }
      ids.resize(std::min(ids.size(), room - 10));
      const Result with = warm.generate(request_of(ids));
      const Result without = cold.generate(request_of(ids));
      ASSERT_EQ(with.ids, without.ids);
      ASSERT_EQ(with.chosen_logprobs, without.chosen_logprobs) << "bit for bit";
      ASSERT_EQ(with.usage.cached_tokens, with.cache.reused.total());
      from_disk += with.cache.reused.disk;
      ids.insert(ids.end(), with.ids.begin(), with.ids.end());
      texts.push_back(std::move(ids));
    }
  }
  EXPECT_GT(from_disk, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, TierModels,
                         ::testing::Values("llama", "llama-bf16", "gemma3", "mistral-window"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(PrefixSessions, TheFirstTurnUsesThePrefixCacheAndFillsIt) {
  Generator generator(smollm2());
  Generator cold(smollm2(), {.prefix_cache_bytes = 0});
  const std::vector<Message> start = {
      {"system", "You are a patient librarian who answers in one short sentence."}};
  SessionOptions options;
  options.messages = start;
  Session first(generator, std::move(options));
  const Result told = first.say("What is a quire?", {.max_new_tokens = 8});
  EXPECT_EQ(told.cache.why_not_more.reason, MissReason::kCold);

  options = {};
  options.messages = start;
  Session second(generator, std::move(options));
  const Result result = second.say("What is a folio?", {.max_new_tokens = 8});
  EXPECT_EQ(result.cache.why_not_more.reason, MissReason::kDiverged);
  EXPECT_GT(result.usage.cached_tokens, 16);
  EXPECT_EQ(result.usage.cached_tokens, result.cache.reused.total());
  EXPECT_EQ(std::ssize(second.ids()), second.cache().length());
  options = {};
  options.messages = start;
  Session alone(cold, std::move(options));
  EXPECT_EQ(alone.say("What is a folio?", {.max_new_tokens = 8}).ids, result.ids);
  EXPECT_EQ(alone.say("And a page?", {.max_new_tokens = 8}).ids,
            second.say("And a page?", {.max_new_tokens = 8}).ids);

  Session aside(generator);
  EXPECT_EQ(aside.say("What is a quire?", {.max_new_tokens = 2, .prefix_cache = false})
                .usage.cached_tokens,
            0);
}

}  // namespace
}  // namespace quire
