// SPDX-License-Identifier: Apache-2.0
// Caches of keys and values, the prefix cache and the semantic cache, without memory.
#include <quire/dynamic_cache.h>
#include <quire/quantized_cache.h>
#include <quire/semantic_cache.h>
#include <quire/sliding_cache.h>
#include <quire/static_cache.h>

#include <map>

#include "tests/faults/survive.h"
#include "tests/kv/classes.h"
#include "tests/prefix/server.h"
#include "tests/semantic/fake_embedder.h"

namespace quire::faults {
namespace {

using testing::append;
using testing::History;
using testing::make_tokens;
using testing::Outputs;

struct KvClass {
  const char* name;
  // `max_bytes`: of all its pages, where the class has a budget.
  std::function<std::unique_ptr<KvCache>(const KvSpec&, std::int64_t max_bytes)> make;
};

void PrintTo(const KvClass& of, std::ostream* out) { *out << of.name; }

class KvFaults : public ::testing::TestWithParam<KvClass> {
 protected:
  static constexpr std::int64_t kHeld = 75;
  static constexpr std::int64_t kPass = 40;
  static constexpr std::int64_t kBack = 64;  // where every class can be cut, if it can at all

  std::span<const std::uint64_t> tokens(std::int64_t from, std::int64_t count) const {
    return std::span(history_).subspan(static_cast<std::size_t>(from),
                                       static_cast<std::size_t>(count));
  }
  // As a model does: a pass that fails is undone.
  void pass(KvCache& cache, std::int64_t count) const {
    try {
      append(cache, spec_, tokens(cache.length(), count));
    } catch (...) {
      cache.rollback();
      throw;
    }
  }
  // The cache holds what one does that was filled without a fault.
  void expect_whole(KvCache& cache) const {
    const std::int64_t length = cache.length();
    const auto cold = GetParam().make(spec_, 0);
    pass(*cold, length);
    EXPECT_EQ(append(cache, spec_, tokens(length, 3)), append(*cold, spec_, tokens(length, 3)));
  }

  const KvSpec spec_ = testing::test_spec(DType::kF32);
  const History history_ = make_tokens(1, 300);
};

TEST_P(KvFaults, ForkTruncateAppend) {
  // Enough for what is kept at once: pages that faults lose would be missed after some.
  std::int64_t budget = 0;
  {
    const auto cache = GetParam().make(spec_, 0);
    pass(*cache, kHeld + 2 * kPass);
    budget = 3 * cache->bytes();
  }
  const auto cache = GetParam().make(spec_, budget);
  std::unique_ptr<KvCache> fork;
  std::unique_ptr<KvCache> clone;
  survive({kMemoryCalls}, {[&] {
                             cache->reset();
                             pass(*cache, kHeld);
                           },
                           [&] {
                             fork = cache->fork();
                             pass(*fork, kPass);
                             pass(*cache, kPass);
                             const auto way_back = cache->checkpoint();
                             pass(*cache, 1);
                             if (way_back) cache->restore(*way_back);
                             clone = fork->clone();
                             if (fork->can_truncate(kBack)) fork->truncate(kBack);
                             pass(*fork, kPass);
                           },
                           [&](bool failed) {
                             if (!failed) {
                               EXPECT_GE(fork->length(), kBack + kPass);
                             }
                             expect_whole(*cache);
                             if (fork) expect_whole(*fork);
                             if (clone) expect_whole(*clone);
                             fork.reset();
                             clone.reset();
                           }});
}

INSTANTIATE_TEST_SUITE_P(
    Classes, KvFaults,
    ::testing::Values(
        KvClass{"Dynamic",
                [](const KvSpec& spec, std::int64_t bytes) {
                  return std::make_unique<DynamicCache>(spec, PagePoolOptions{.max_bytes = bytes});
                }},
        KvClass{"Static",
                [](const KvSpec& spec, std::int64_t) {
                  return std::make_unique<StaticCache>(spec, StaticCacheOptions{.max_length = 300});
                }},
        KvClass{"Quantized",
                [](const KvSpec& spec, std::int64_t bytes) {
                  return std::make_unique<QuantizedCache>(
                      spec, QuantizedCacheOptions{.residual_length = 32, .max_bytes = bytes});
                }},
        KvClass{"Sliding",
                [](const KvSpec& spec, std::int64_t bytes) {
                  return std::make_unique<SlidingCache>(
                      spec, SlidingCacheOptions{.window = 50, .pages = {.max_bytes = bytes}});
                }}),
    [](const auto& of) { return std::string(of.param.name); });

// Lookups and stores of texts that part from each other, within a budget that evicts.
TEST(PrefixFaults, LookUpAndStore) {
  using testing::ramp;
  std::unique_ptr<testing::Server> server;
  TokenIds branch = ramp(100);
  branch[70] = 7;
  std::map<TokenIds, Outputs> expected;
  for (const TokenIds& text : {branch, ramp(100), ramp(150), ramp(200, 500)}) {
    expected[text] = testing::Server({}).cold(text);
  }
  const auto expect_right = [&](const TokenIds& text) {
    EXPECT_EQ(server->serve(text).last, expected.at(text));
  };
  survive({kMemoryCalls}, {[&] {
                             server = std::make_unique<testing::Server>(
                                 PrefixCacheOptions{.bytes = 100'000,
                                                    .block_size = 16,
                                                    .explain_across_namespaces = true,
                                                    .on_event = [](const PrefixEvent&) {}});
                             server->serve(ramp(100));
                           },
                           [&] {
                             expect_right(branch);
                             expect_right(ramp(150));
                             server->cache.pin(server->model, ramp(40));
                             server->serve(ramp(200, 500), {.salt = "other"});
                             server->cache.unpin(server->model, ramp(40));
                             server->cache.end_session(server->model, ramp(150));
                           },
                           [&](bool) {
                             for (const auto& [text, outputs] : expected) {
                               expect_right(text);
                               expect_right(text);
                             }
                             EXPECT_LE(server->cache.stats().bytes, 100'000);
                             server->cache.unpin(server->model, ramp(40));
                             expect_no_pages(server->cache, server->model);
                           }});
}

TEST(SemanticFaults, LookUpAndStore) {
  std::unique_ptr<SemanticCache> cache;
  const std::string texts[] = {"how do I reset it", "how can I reset it now", "another text"};
  const auto knows = [&](const std::string& text) {
    const SemanticLookup found = cache->lookup(text);
    if (found.hit) {
      EXPECT_EQ(found.hit->response, "answer to " + found.hit->matched);
    }
    return found.hit && found.hit->matched == text;
  };
  survive({kMemoryCalls},
          {[&] {
             cache = std::make_unique<SemanticCache>(
                 std::make_shared<testing::FakeEmbedder>(),
                 SemanticCacheOptions{.threshold = 0.6, .max_entries = 2});
             cache->store(texts[0], "answer to " + texts[0]);
             cache->store(texts[2], "answer to " + texts[2]);
           },
           [&] {
             EXPECT_TRUE(knows(texts[0]));
             knows(texts[1]);
             cache->store(texts[1], "answer to " + texts[1]);
             cache->get_or_compute({.prompt = texts[2]}, [&](const SemanticLookup&) {
               return StoredAnswer{.response = "answer to " + texts[2]};
             });
             cache->lookup(texts[0], {.name_space = "other"});
             cache->store(texts[0], "answer to " + texts[0], {.name_space = "other"});
           },
           [&](bool) {
             for (const std::string& text : texts) {
               knows(text);
               EXPECT_TRUE(cache->store(text, "answer to " + text));
               EXPECT_TRUE(knows(text));
               EXPECT_LE(cache->stats().entries, 2);
             }
             cache->clear();
             EXPECT_EQ(cache->stats().entries, 0);
           }});
}

}  // namespace
}  // namespace quire::faults
