// SPDX-License-Identifier: Apache-2.0
// The prefix cache's accounts, each allocation of a piece of work failing once.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/prefix_cache.h>

#include <new>
#include <vector>

#include "prefix/last_logits.h"
#include "tests/faults/interpose.h"
#include "tests/prefix/server.h"

namespace quire {
namespace {

using testing::append;
using testing::history_of;
using testing::make_spec;
using testing::ramp;
using testing::Server;

// Whether `work` made n allocations. The n-th fails, and perhaps the work for it.
template <typename Work>
bool strike(int n, const Work& work) {
  const faults::Fault fault(faults::Call::kMemory, n);
  try {
    work();
  } catch (const std::bad_alloc&) {
  }
  return fault.struck();
}

TEST(NoMemory, LogitsAreCountedRight) {
  constexpr BlockKey kSpace{1, 2};
  const std::vector<float> row(100);
  bool struck = true;
  for (int n = 1; struck; ++n) {
    LastLogits logits(1 << 20);
    logits.keep(kSpace, ramp(5), row);
    const std::int64_t one = logits.bytes();
    const TokenIds other = ramp(5, 10);
    struck = strike(n, [&] { logits.keep(kSpace, other, row); });
    EXPECT_NE(logits.find(kSpace, ramp(5)), nullptr) << n;
    EXPECT_EQ(logits.bytes(), logits.find(kSpace, other) == nullptr ? one : 2 * one) << n;
    EXPECT_EQ(logits.find(kSpace, other) == nullptr, struck) << n;
  }
}

// Events need memory too, in the middle of an eviction.
TEST(NoMemory, AFailedStoreHoldsNothing) {
  const TokenIds tokens = ramp(64, 1000);
  bool struck = true;
  for (int n = 1; struck; ++n) {
    Server server(
        {.bytes = 2 * 32 * make_spec().bytes_per_token(), .on_event = [](const PrefixEvent&) {}});
    server.serve(ramp(64));
    PrefixMatch match = server.cache.lookup(server.model, tokens);
    const auto kv = match.make_cache();
    append(*kv, server.model.kv, history_of(tokens));
    struck = strike(n, [&] { match.store(tokens, *kv); });
    match = PrefixMatch();
    server.cache.clear();
    EXPECT_EQ(server.cache.stats().blocks, 0) << n;
    EXPECT_EQ(server.cache.stats().bytes, 0) << n;
    EXPECT_EQ(server.serve(tokens).last, server.cold(tokens)) << n;
    EXPECT_EQ(server.serve(tokens).reused, 63) << n;
  }
}

}  // namespace
}  // namespace quire
