// SPDX-License-Identifier: Apache-2.0
#include "generate/admission.h"

#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/generator.h>

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/generate/concurrent.h"
#include "tests/generate/models.h"

namespace quire {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::Held;
using test::kModel;
using test::request_of;
using test::tiny_model;

TEST(Admission, TheQueueIsBoundedAndADeadlineEndsTheWait) {
  Generator generator(tiny_model(kModel), {.threads = 1, .max_batch = 1, .max_queue = 1});
  Held held(generator, request_of({5, 6, 7}, 4));
  Request late = request_of({8, 9}, 4);
  late.deadline = std::chrono::steady_clock::now() + 20ms;
  const Result result = generator.generate(late);
  EXPECT_EQ(result.finish_reason, FinishReason::kDeadline);
  EXPECT_TRUE(result.ids.empty());
  EXPECT_GE(result.timings.queue_ms, 15);

  auto waiting = std::async(std::launch::async, [&] {
    while (true) {
      try {
        return generator.generate(request_of({8, 9}, 4));
      } catch (const Error&) {
        std::this_thread::yield();  // the request below was in the queue at the time
      }
    }
  });
  // As long as that one is not in the queue yet, requests that give up at once get through.
  std::optional<ErrorCode> refused;
  while (!refused) {
    Request now = request_of({8, 9}, 4);
    now.deadline = std::chrono::steady_clock::now();
    refused = code_of([&] { generator.generate(now); });
  }
  EXPECT_EQ(refused, ErrorCode::kOverloaded);
  held.let_go();
  EXPECT_EQ(waiting.get().ids.size(), 4u);
}

TEST(Admission, FirstComeFirstServed) {
  Admission admission(3, 10);
  std::optional<Admission::Seat> held(std::in_place, admission, 1, std::nullopt);
  std::mutex mutex;
  std::vector<int> order;
  const auto ask = [&](int name, std::int64_t places) {
    const Admission::Seat seat(admission, places, std::nullopt);
    const std::lock_guard lock(mutex);
    order.push_back(name);
  };
  const auto one_is_free = [&] {
    return Admission::Seat(admission, 1, std::chrono::steady_clock::now()).granted();
  };
  EXPECT_TRUE(one_is_free());
  std::vector<std::thread> threads;
  threads.emplace_back(ask, 0, 3);
  while (one_is_free()) std::this_thread::yield();
  // Two places are free, but they are for the first in the queue.
  for (int i = 1; i < 4; ++i) threads.emplace_back(ask, i, 1);
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(order.empty());
  held.reset();
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order.front(), 0);
}

}  // namespace
}  // namespace quire
