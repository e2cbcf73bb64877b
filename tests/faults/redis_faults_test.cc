// SPDX-License-Identifier: Apache-2.0
// The lines to a Redis break at every call: a real one, behind the prefix cache and behind answers.
#include <quire/answer_cache.h>

#include "io/redis_connection.h"
#include "tests/faults/survive.h"
#include "tests/io/redis_server.h"

namespace quire::faults {
namespace {

using namespace std::chrono_literals;

class RedisFaults : public Faults {
 protected:
  void forget() const {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    RedisConnection line(parse_redis_url(redis_.url()), deadline);
    line.append({RedisConnection::word("FLUSHALL")});
    line.next(deadline);
  }

  const testing::RedisServer redis_;
};

TEST_F(RedisFaults, PrefixCache) {
  Result result;
  const auto use = [&] {
    PrefixCache prefixes({.block_size = 16, .redis_url = redis_.url(), .redis_timeout = 10s});
    Generator own(model_, {.threads = 1, .prefix_cache = &prefixes});
    result = own.generate(request_of(3));
    EXPECT_EQ(result.ids, reference_ids(3));
    prefixes.flush();
    EXPECT_EQ(own.generate(request_of(1)).ids, reference_ids(1));
    prefixes.flush();
    expect_no_pages(prefixes, prefix_model());
  };
  const auto works = [&](bool) {
    use();  // stores
    use();  // loads
    EXPECT_GT(result.cache.reused.remote, 0);
  };
  survive({kSocketCalls, kMemoryCalls}, {[&] { forget(); }, use, works});
  survive({kSocketCalls, kMemoryCalls}, {[] {}, use, works});  // it has the texts
}

TEST_F(RedisFaults, AnswerCache) {
  const auto answers = [&] {
    return std::make_unique<quire::AnswerCache>(
        AnswerCacheOptions{.levels = {.l1_entries = 1, .l2_entries = 0},
                           .shared = make_redis_level(redis_.url(), {.timeout = 10s})});
  };
  const auto store = [](quire::AnswerCache& to, const std::string& prompt) {
    to.store({.prompt = prompt, .answer = {.response = "answer to " + prompt}});
  };
  const auto knows = [](quire::AnswerCache& in, const std::string& prompt) {
    const auto found = in.lookup({.prompt = prompt});
    if (found) {
      EXPECT_EQ(found->response, "answer to " + prompt);
    }
    return found.has_value();
  };
  survive({kSocketCalls, kMemoryCalls}, {[&] { forget(); },
                                         [&] {
                                           const auto here = answers();
                                           const auto there = answers();
                                           for (const char* prompt : {"a", "b"}) {
                                             store(*here, prompt);
                                             EXPECT_TRUE(knows(*here, prompt));
                                             knows(*there, prompt);
                                           }
                                           knows(*here, "a");
                                           here->erase({.prompt = "a"});
                                           knows(*here, "a");
                                         },
                                         [&](bool) {
                                           const auto here = answers();
                                           const auto there = answers();
                                           store(*here, "c");
                                           EXPECT_TRUE(knows(*there, "c"));
                                           knows(*there, "a");
                                         }});
}

}  // namespace
}  // namespace quire::faults
