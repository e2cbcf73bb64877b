// SPDX-License-Identifier: Apache-2.0
// The third level with a real Redis.
#include "semantic/redis_level.h"

#include <gtest/gtest.h>
#include <quire/answer_cache.h>
#include <quire/error.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/io/redis_server.h"

namespace quire {
namespace {

using namespace std::chrono_literals;
using testing::RedisServer;
using Clock = std::chrono::steady_clock;

// For tests of other things than time-outs, on a machine that may be busy.
const RedisLevelOptions kPatient{.timeout = 10s};

// Wide enough for a busy machine; what it bounds without is seconds or for ever.
constexpr auto kSlack = 150ms;

void tell(const RedisServer& redis, std::initializer_list<RedisConnection::Bytes> command) {
  RedisConnection line(parse_redis_url(redis.url()), Clock::now() + 10s);
  line.append(command);
  ASSERT_NE(line.next(Clock::now() + 10s).kind, RedisReply::Kind::kError);
}

constexpr auto word = RedisConnection::word;

TEST(RedisLevel, KeepsAnyBytesBeyondTheProcess) {
  const RedisServer redis;
  const std::string key("k\0\r\n\xff", 5);
  const std::string value = std::string(100'000, '\0') + "\r\n$-1\r\n";
  const pid_t child = fork();
  if (child == 0) {
    make_redis_level(redis.url(), kPatient)->put(key, value);
    make_redis_level(redis.url(), kPatient)->put("", "");
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  const auto level = make_redis_level(redis.url(), kPatient);
  EXPECT_EQ(level->get(key), value);
  EXPECT_EQ(level->get(""), "");
  EXPECT_EQ(level->get("other"), std::nullopt);
  EXPECT_EQ(make_redis_level(redis.url(), {.timeout = 10s, .name_space = "x"})->get(key),
            std::nullopt);
  level->erase(key);
  EXPECT_EQ(level->get(key), std::nullopt);
}

TEST(RedisLevel, WhatIsNotTheKeysValueIsNeverServed) {
  const RedisServer redis;
  RedisLevel level(redis.url(), kPatient);
  level.put("a", "of a");
  level.put("b", "of b");
  tell(redis, {word("COPY"), word(level.name_of("b")), word(level.name_of("a")), word("REPLACE")});
  EXPECT_THROW(level.get("a"), Error);
  tell(redis, {word("SET"), word(level.name_of("a")), word("short")});
  EXPECT_THROW(level.get("a"), Error);
  tell(redis, {word("SETRANGE"), word(level.name_of("b")), word("10"), word("!")});
  EXPECT_THROW(level.get("b"), Error);
  tell(redis, {word("DEL"), word(level.name_of("a"))});
  tell(redis, {word("LPUSH"), word(level.name_of("a")), word("a list")});
  EXPECT_THROW(level.get("a"), Error) << "the server's own error";
  level.put("a", "again");
  EXPECT_EQ(level.get("a"), "again") << "no answer was left over";
}

TEST(RedisLevel, TimeToLive) {
  const RedisServer redis;
  const auto level = make_redis_level(redis.url(), {.timeout = 10s, .ttl = 200ms});
  level->put("a", "1");
  EXPECT_EQ(level->get("a"), "1");
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(level->get("a"), std::nullopt);
}

TEST(RedisLevel, FrozenCostsOneTimeOut) {
  const RedisServer redis;
  const auto level = make_redis_level(redis.url(), {.timeout = 100ms});
  level->put("a", "1");
  redis.signal(SIGSTOP);
  auto start = Clock::now();
  EXPECT_THROW(level->get("a"), Error);
  EXPECT_LT(Clock::now() - start, 100ms + kSlack);
  start = Clock::now();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(level->get("a"), std::nullopt);
    level->put("b", "2");
  }
  EXPECT_LT(Clock::now() - start, 1s) << "the others do not wait at all";
  redis.signal(SIGCONT);
  std::optional<std::string> value;
  for (const auto end = Clock::now() + 10s; !value && Clock::now() < end;) {
    std::this_thread::sleep_for(10ms);
    value = level->get("a");
  }
  EXPECT_EQ(value, "1");
}

TEST(RedisLevel, FullRefusesAndGoesOnServing) {
  const RedisServer redis({"--maxmemory", "2mb", "--maxmemory-policy", "noeviction"});
  const auto level = make_redis_level(redis.url(), kPatient);
  level->put("first", "1");
  int refused = 0;
  for (int i = 0; i < 60; ++i) {
    try {
      level->put(std::to_string(i), std::string(100'000, 'x'));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_EQ(level->get("first"), "1");
}

TEST(RedisLevel, AnswersAreSharedWhateverRedisDoes) {
  RedisServer redis;
  const auto answers = [&] {
    return AnswerCache({.shared = make_redis_level(redis.url(), {.timeout = 200ms})});
  };
  AnswerCache here = answers();
  AnswerCache there = answers();
  here.store({.prompt = "q", .answer = {.response = "r", .ids = {7}}});
  ASSERT_TRUE(there.lookup({.prompt = "q"}));
  EXPECT_EQ(there.lookup({.prompt = "q"})->ids, TokenIds{7});
  EXPECT_EQ(there.stats().levels.l3_hits, 1);
  redis.kill();
  for (int i = 0; i < 20; ++i) {
    const SemanticQuery query{.prompt = std::to_string(i)};
    const auto start = Clock::now();
    const auto answer = there.get_or_compute(query, [] { return StoredAnswer{.response = "own"}; });
    EXPECT_LT(Clock::now() - start, 200ms + kSlack);
    EXPECT_TRUE(answer.computed);
    EXPECT_TRUE(there.lookup(query)) << "in memory";
  }
  EXPECT_GT(there.stats().levels.l3_failures, 0);
}

}  // namespace
}  // namespace quire
