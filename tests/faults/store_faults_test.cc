// SPDX-License-Identifier: Apache-2.0
// Files that are written while they are read: the disk tier and the semantic cache's file.
#include <gmock/gmock.h>
#include <quire/semantic_cache.h>

#include "tests/faults/survive.h"
#include "tests/semantic/fake_embedder.h"

namespace quire::faults {
namespace {

using StoreFaults = Faults;

TEST_F(StoreFaults, DiskTier) {
  const auto file = folder_.file("prefixes.sqlite");
  Result result;
  const auto use = [&] {
    PrefixCache prefixes({.block_size = 16, .disk_path = file});
    Generator own(model_, {.threads = 1, .prefix_cache = &prefixes});
    result = own.generate(request_of(3));
    prefixes.flush();
    EXPECT_EQ(result.ids, reference_ids(3));
    expect_no_pages(prefixes, prefix_model());
  };
  const auto works = [&](bool) {
    use();  // stores
    use();  // loads
    EXPECT_GT(result.cache.reused.disk, 0);
  };
  const auto fresh = [&] { empty(folder_.path()); };
  survive({kFileCalls, kSqlCalls, kMemoryCalls}, {fresh, use, works});
  // From a file that has the text.
  survive({kFileCalls, kSqlCalls, kMemoryCalls}, {[] {}, use, works});
}

// A tier that stays open after a fault stores and loads again.
TEST_F(StoreFaults, OpenDiskTierGoesOn) {
  std::unique_ptr<PrefixCache> prefixes;
  // How much came from the file.
  const auto serve = [&] {
    Generator own(model_, {.threads = 1, .prefix_cache = prefixes.get()});
    const Result result = own.generate(request_of(3));
    EXPECT_EQ(result.ids, reference_ids(3));
    prefixes->flush();
    prefixes->clear();
    return result.cache.reused.disk;
  };
  survive({kSqlCalls, kMemoryCalls},
          {[&] {
             prefixes.reset();
             empty(folder_.path());
             prefixes = std::make_unique<PrefixCache>(PrefixCacheOptions{
                 .block_size = 16, .disk_path = folder_.file("prefixes.sqlite")});
           },
           [&] {
             serve();  // stores
             serve();  // loads
           },
           [&](bool) {
             serve();
             EXPECT_GT(serve(), 0);
             expect_no_pages(*prefixes, prefix_model());
           }});
}

class SemanticFile : public Faults {
 protected:
  std::unique_ptr<SemanticCache> open(SemanticCacheOptions options = {}) const {
    options.path = folder_.file("answers.sqlite");
    return std::make_unique<SemanticCache>(std::make_shared<testing::FakeEmbedder>(), options);
  }
  static bool knows(SemanticCache& cache, const std::string& text) {
    const SemanticLookup found = cache.lookup(text);
    if (found.hit) {
      EXPECT_EQ(found.hit->response, "answer to " + text);
    }
    return found.hit.has_value();
  }
};

TEST_F(SemanticFile, OpenAndStore) {
  survive({kFileCalls, kSqlCalls, kMemoryCalls},
          {[&] {
             empty(folder_.path());
             open()->store("first", "answer to first");
           },
           [&] { open()->store("second", "answer to second"); },
           [&](bool failed) {
             const auto cache = open();
             cache->verify();
             EXPECT_TRUE(knows(*cache, "first"));
             if (!failed) {
               EXPECT_TRUE(knows(*cache, "second"));
             }
             EXPECT_TRUE(cache->store("third", "answer to third"));
             EXPECT_TRUE(knows(*cache, "third"));
           }});
}

// Every method that changes entries, on a cache that goes on being used.
TEST_F(SemanticFile, OpenCacheGoesOn) {
  std::unique_ptr<SemanticCache> cache;
  std::uint64_t first = 0;
  survive({kSqlCalls, kMemoryCalls},
          {[&] {
             cache.reset();
             empty(folder_.path());
             cache = open({.max_entries = 3, .ttl = std::chrono::hours(1), .sliding_ttl = true});
             first = *cache->store("first", "answer to first");
             cache->store({.prompt = "tagged",
                           .answer = {.response = "answer to tagged"},
                           .keep = {.tags = {"tag"}}});
           },
           [&] {
             cache->lookup("first");
             cache->store("second", "answer to second");
             cache->store("first", "answer to first");
             cache->store("third", "answer to third");
             cache->report_wrong(first, 0.97);
             cache->invalidate("tag");
             cache->verify();
           },
           [&](bool failed) {
             cache->verify();
             for (const char* text : {"first", "second", "third", "tagged"}) knows(*cache, text);
             if (!failed) {
               EXPECT_TRUE(knows(*cache, "third"));
             }
             for (const char* text : {"4", "5", "6", "third"}) {
               EXPECT_TRUE(cache->store(text, std::string("answer to ") + text));
               EXPECT_TRUE(knows(*cache, text));
               EXPECT_LE(cache->stats().entries, 3);
             }
             cache->verify();
             cache->clear();
             cache->verify();
             const std::int64_t bytes = cache->stats().bytes;
             EXPECT_EQ(cache->stats().entries, 0);
             cache.reset();
             EXPECT_EQ(open()->stats().bytes, bytes) << "as if nothing had been there";
           }});
}

}  // namespace
}  // namespace quire::faults
