// SPDX-License-Identifier: Apache-2.0
// Requests, and what they go on from in memory, without memory.
#include <quire/dynamic_cache.h>
#include <quire/page_pool.h>
#include <quire/snapshot.h>

#include "tests/faults/survive.h"

namespace quire::faults {
namespace {

TEST_F(Faults, Generate) {
  std::unique_ptr<Generator> fresh;
  survive({kFileCalls, kMemoryCalls},
          {[&] { fresh = std::make_unique<Generator>(model_, GeneratorOptions{.threads = 1}); },
           [&] { EXPECT_EQ(fresh->generate(request_of(2)).ids, reference_ids(2)); },
           [&](bool) {
             for (const std::size_t prompt : {2, 0}) {
               EXPECT_EQ(fresh->generate(request_of(prompt)).ids, reference_ids(prompt));
             }
             expect_no_pages(*fresh->prefix_cache(), prefix_model());
           }});
}

// A pool that cannot start all of its threads ends those that it has.
TEST_F(Faults, AGeneratorOfSeveralThreads) {
  survive({kMemoryCalls}, {[] {},
                           [&] {
                             Generator fresh(model_, {.threads = 4});
                             EXPECT_EQ(fresh.generate(request_of(2)).ids, reference_ids(2));
                           },
                           [](bool) {}});
}

TEST_F(Faults, GenerateOnACacheOfTheCallers) {
  const auto pool = std::make_shared<PagePool>(model_->kv_spec());
  DynamicCache cache(pool);
  const std::int64_t length = std::ssize(*request_of(2).ids) + 2;
  survive({kMemoryCalls}, {[&] { cache.reset(); },
                           [&] {
                             Request request = request_of(2);
                             request.cache = &cache;
                             EXPECT_EQ(generator_.generate(request).ids, reference_ids(2));
                           },
                           [&](bool failed) {
                             EXPECT_EQ(cache.length(), failed ? 0 : length);
                             cache.reset();
                             Request request = request_of(2);
                             request.cache = &cache;
                             EXPECT_EQ(generator_.generate(request).ids, reference_ids(2));
                             cache.reset();
                             EXPECT_EQ(pool->used_bytes(), 0);
                           }});
}

TEST_F(Faults, PrefillAndGoOn) {
  const auto prefill = [&](const std::shared_ptr<PagePool>& pool) {
    return generator_.prefill(request_of(1), std::make_unique<DynamicCache>(pool));
  };
  const auto go_on = [&](const Snapshot& snapshot) {
    Request request = request_of(1);
    request.snapshot = snapshot;
    request.ids = TokenIds{};
    EXPECT_EQ(generator_.generate(request).ids, reference_ids(1));
  };
  const auto pool = std::make_shared<PagePool>(model_->kv_spec());
  survive({kMemoryCalls}, {[] {}, [&] { go_on(prefill(pool)); },
                           [&](bool) {
                             EXPECT_EQ(pool->used_bytes(), 0);
                             const Snapshot snapshot = prefill(pool);
                             go_on(snapshot);
                             go_on(snapshot);
                           }});
}

}  // namespace
}  // namespace quire::faults
