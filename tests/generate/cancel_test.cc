// SPDX-License-Identifier: Apache-2.0
// Request::cancel.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/generator.h>

#include <stop_token>

#include "tests/generate/concurrent.h"
#include "tests/generate/models.h"
#include "tests/generate/watched_cache.h"

namespace quire {
namespace {

using test::kModel;
using test::request_of;
using test::tiny_model;
using test::WatchedCache;

TEST(Cancel, ARequestThatIsCancelledComputesNothing) {
  const auto model = tiny_model(kModel);
  Generator generator(model, {.threads = 1});
  std::stop_source stop;
  stop.request_stop();
  DynamicCache cache(model->kv_spec());
  Request request = request_of({5, 6, 7}, 20);
  request.cache = &cache;
  request.cancel = stop.get_token();
  const Result result = generator.generate(request);
  EXPECT_EQ(result.finish_reason, FinishReason::kCancelled);
  EXPECT_TRUE(result.ids.empty());
  EXPECT_EQ(cache.length(), 0);
}

TEST(Cancel, WhileThePromptIsReadTheCacheIsAsBefore) {
  const auto model = tiny_model(kModel);
  Generator generator(model, {.threads = 1, .prefill_chunk = 8});
  std::stop_source stop;
  int passes = 0;
  WatchedCache cache(std::make_unique<DynamicCache>(model->kv_spec()), [&](std::int64_t tokens) {
    if (tokens > 0 && ++passes == 2) stop.request_stop();
  });
  Request request = request_of(TokenIds(64, 9), 20);
  request.cache = &cache;
  request.cancel = stop.get_token();
  EXPECT_EQ(generator.generate(request).finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(passes, 2);
  EXPECT_EQ(cache.length(), 0);
  request.cancel = {};
  const TokenIds ids = generator.generate(request).ids;
  EXPECT_EQ(ids, generator.generate(request_of(TokenIds(64, 9), 20)).ids);
}

TEST(Cancel, EndsEachOfSeveralAnswersWithinAStep) {
  const auto model = tiny_model(kModel);
  Generator generator(model, {.threads = 1});
  std::stop_source stop;
  int passes = 0;
  WatchedCache cache(std::make_unique<DynamicCache>(model->kv_spec()), [&](std::int64_t tokens) {
    if (tokens > 0 && ++passes == 9) stop.request_stop();
  });
  Request request = request_of({5, 6, 7}, 200);
  request.cache = &cache;
  request.n = 3;
  request.cancel = stop.get_token();
  const Result result = generator.generate(request);
  ASSERT_EQ(result.choices.size(), 3U);
  for (const Choice& choice : result.choices) {
    EXPECT_EQ(choice.finish_reason, FinishReason::kCancelled);
    EXPECT_LT(choice.ids.size(), 10U);
  }
}

TEST(Cancel, FromACallbackTheTextSoFarIsKept) {
  Generator generator(tiny_model(kModel), {.threads = 1});
  std::stop_source stop;
  Request request = request_of({5, 6, 7}, 200);
  request.cancel = stop.get_token();
  std::string text;
  const Result result = generator.generate(request, [&](std::string_view chunk) {
    text += chunk;
    stop.request_stop();
    return Stream::kContinue;
  });
  EXPECT_EQ(result.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(result.text, text);
  EXPECT_LT(result.ids.size(), 200U);
  EXPECT_FALSE(result.ids.empty());
}

}  // namespace
}  // namespace quire
