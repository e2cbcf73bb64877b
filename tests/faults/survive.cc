// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/survive.h"

#include <quire/dynamic_cache.h>
#include <quire/error.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <new>

#include "tests/faults/clock_jump.h"

namespace quire::faults {
namespace {

namespace fs = std::filesystem;

// After so many calls only samples fail, ever fewer; a sweep over all would take minutes.
constexpr int kAll = 300;
constexpr int kStep = 7;
constexpr int kShare = 40;

int after(int n) { return n + (n < kAll ? 1 : std::max(kStep, n / kShare)); }

std::ptrdiff_t open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

// Runs the operation with its n-th call of something struck, for every n that there is.
template <typename Strike>
void strike_all(const std::string& name, const Operation& operation, bool may_fail, bool memory,
                const Strike& strike) {
  operation.before();
  operation.run();
  operation.after(false);
  const std::ptrdiff_t files = open_files();
  int struck = 0;
  for (int n = 1;; n = after(n)) {
    SCOPED_TRACE(name + " " + std::to_string(n));
    operation.before();
    bool failed = false;
    bool hit = false;
    std::string foreign;
    {
      const auto fault = strike(n);
      try {
        operation.run();
      } catch (const Error&) {
        failed = true;
      } catch (const std::bad_alloc& error) {
        failed = true;
        if (!memory) foreign = error.what();
      } catch (const std::exception& error) {
        failed = true;
        foreign = error.what();
      }
      hit = fault->struck();
    }
    EXPECT_EQ(foreign, "") << "an exception that is no quire::Error";
    EXPECT_FALSE(failed && !(may_fail && hit)) << "failed without a fault";
    operation.after(failed);
    EXPECT_EQ(open_files(), files);
    if (!hit || ::testing::Test::HasFailure()) break;  // one trace is enough
    ++struck;
  }
  std::cout << name << ": " << struck << " faults survived\n";
}

}  // namespace

void survive(std::initializer_list<std::span<const Call>> kinds, const Operation& operation) {
  for (const std::span<const Call> calls : kinds) {
    for (const Call call : calls) {
      strike_all(name_of(call), operation, true, call == Call::kMemory,
                 [&](int n) { return std::make_unique<Fault>(call, n); });
      if (::testing::Test::HasFailure()) return;
    }
  }
}

void survive_jumps(const Operation& operation) {
  using namespace std::chrono_literals;
  const struct {
    const char* name;
    clockid_t clock;
    std::chrono::seconds by;
  } jumps[] = {{"day_later", CLOCK_REALTIME, 24h},
               {"day_earlier", CLOCK_REALTIME, -24h},
               {"hour_later", CLOCK_MONOTONIC, 1h}};
  for (const auto& jump : jumps) {
    strike_all(jump.name, operation, false, false,
               [&](int n) { return std::make_unique<ClockJump>(jump.clock, jump.by, n); });
    if (::testing::Test::HasFailure()) return;
  }
}

Request request_of(std::size_t prompt, std::int64_t tokens) {
  Request request;
  request.ids = test::tiny_reference("llama").at("prompts")[prompt].get<TokenIds>();
  request.max_new_tokens = tokens;
  request.ignore_eos = true;
  return request;
}

TokenIds reference_ids(std::size_t prompt, std::size_t tokens) {
  auto ids = test::tiny_reference("llama").at("greedy")[prompt].get<TokenIds>();
  ids.resize(tokens);
  return ids;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

void empty(const fs::path& folder) {
  for (const fs::path& old : files_in(folder)) fs::remove_all(old);
}

void expect_no_pages(PrefixCache& cache, const PrefixModel& model) {
  cache.clear();
  const PrefixCacheStats stats = cache.stats();
  EXPECT_EQ(stats.bytes, 0);
  EXPECT_EQ(stats.blocks, 0);
  const auto none = cache.lookup(model, TokenIds{1}).make_cache();
  EXPECT_EQ(dynamic_cast<const DynamicCache&>(*none).pool()->used_bytes(), 0);
}

}  // namespace quire::faults
