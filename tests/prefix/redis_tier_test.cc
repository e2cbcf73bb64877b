// SPDX-License-Identifier: Apache-2.0
// The Redis tier with a real Redis.
#include "prefix/redis_tier.h"

#include <gtest/gtest.h>
#include <quire/page_tier.h>
#include <quire/prefix_cache.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <initializer_list>
#include <random>
#include <string>
#include <thread>

#include "prefix/redis_value.h"
#include "tests/io/redis_server.h"
#include "tests/prefix/server.h"
#include "tests/prefix/tier_texts.h"

namespace quire {
namespace {

using namespace std::chrono_literals;
using testing::grow_family;
using testing::make_spec;
using testing::ramp;
using testing::RedisServer;
using testing::Server;
using testing::TierTexts;
using Clock = std::chrono::steady_clock;

// For tests of other things than time-outs, on a machine that may be busy.
const RedisTierOptions kPatient{.timeout = 10s};

// Wide enough for a busy machine; what it bounds without is seconds or for ever.
constexpr auto kSlack = 150ms;

template <typename Work>
Clock::duration time_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return Clock::now() - start;
}

template <typename Condition>
bool within(Clock::duration limit, const Condition& condition) {
  for (const auto end = Clock::now() + limit; Clock::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(RedisTier, KeepsTextsBeyondTheProcess) {
  const RedisServer redis;
  const TierTexts texts;
  const TokenIds text = TierTexts::tokens(1, 100);
  const pid_t child = fork();
  if (child == 0) {
    const std::int64_t stored = texts.store(*make_redis_tier(redis.url(), kPatient), text);
    _exit(stored == 7 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  const auto tier = make_redis_tier(redis.url(), kPatient);
  for (const std::int64_t first : {0, 1, 5}) EXPECT_EQ(texts.load(*tier, text, first), 100);
  EXPECT_EQ(texts.load(*tier, TierTexts::tokens(2, 100)), 0);
  EXPECT_EQ(tier->stats().loaded_blocks, 7 + 6 + 2);
  EXPECT_EQ(tier->stats().failures, 0);
}

TEST(RedisTier, FindsTheLongestCommonPrefixAmongMany) {
  const RedisServer redis;
  const auto tier = make_redis_tier(redis.url(), kPatient);
  testing::expect_longest_prefixes(*tier);
}

TEST(RedisTier, LongTextsKeepManyLoadsUnderWay) {
  const RedisServer redis;
  const TierTexts texts(20000);
  const auto tier = make_redis_tier(redis.url(), kPatient);
  const TokenIds text = TierTexts::tokens(1, 16 * 700 + 5);
  EXPECT_EQ(texts.store(*tier, text), 701);
  EXPECT_EQ(texts.load(*tier, text), std::ssize(text));
  TokenIds other = text;
  other[16 * 650 + 3] = -1;
  EXPECT_EQ(texts.load(*tier, other), 16 * 650 + 3);
  EXPECT_EQ(texts.load(*tier, text), std::ssize(text)) << "no answer was left over";
}

// One command on a line of its own.
RedisReply ask(const RedisServer& redis, std::initializer_list<RedisConnection::Bytes> words) {
  const auto deadline = Clock::now() + 10s;
  RedisConnection line(parse_redis_url(redis.url()), deadline);
  line.append(words);
  return line.next(deadline);
}

constexpr auto word = RedisConnection::word;

// The name of the block that ends after so many.
std::string name_of(const TokenIds& tokens, std::int64_t blocks) {
  BlockKey key{7, 9};
  for (std::int64_t i = 0; i < blocks; ++i) {
    key = block_key(key, {7, 9}, std::span(tokens).subspan(static_cast<std::size_t>(i) * 16, 16));
  }
  return redis_name(key);
}

TEST(RedisTier, ValuesThatAreNotTheBlockAreNeverServedAndReplaced) {
  const RedisServer redis;
  const TierTexts texts;
  const auto tier = make_redis_tier(redis.url(), kPatient);
  const TokenIds text = TierTexts::tokens(1, 64);
  const TokenIds other = TierTexts::tokens(2, 64);
  texts.store(*tier, text);
  texts.store(*tier, other);
  const std::string third = name_of(text, 3);
  const auto expect_refused = [&] {
    EXPECT_EQ(texts.load(*tier, text), 32);
    EXPECT_EQ(texts.store(*tier, text), 4);
    EXPECT_EQ(texts.load(*tier, text), 64);
  };
  ask(redis, {word("SETRANGE"), word(third), word("2000"), word("damage")});
  expect_refused();
  ask(redis, {word("SET"), word(third), word("short")});
  expect_refused();
  ask(redis, {word("COPY"), word(name_of(other, 3)), word(third), word("REPLACE")});
  expect_refused();
  EXPECT_EQ(tier->stats().corrupt_blocks, 3 * 2) << "as the block, and as the nearest one";
}

TEST(RedisTier, ExpiredValuesAreReplaced) {
  const RedisServer redis;
  const TierTexts texts;
  const auto tier = make_redis_tier(redis.url(), kPatient);
  const TokenIds text = TierTexts::tokens(1, 64);
  texts.store(*tier, text);
  const std::string third = name_of(text, 3);
  const std::int64_t past = 1;
  ask(redis,
      {word("SETRANGE"), word(third), word(kRedisExpiryAt), std::as_bytes(std::span(&past, 1))});
  EXPECT_EQ(texts.load(*tier, text), 32);
  EXPECT_EQ(ask(redis, {word("EXISTS"), word(third)}).integer, 0);
  EXPECT_EQ(texts.store(*tier, text), 4);
  EXPECT_EQ(texts.load(*tier, text), 64);
  EXPECT_EQ(tier->stats().corrupt_blocks, 0);
}

TEST(RedisTier, EveryKeyLivesAsLongAsTheLastStoreSaid) {
  const RedisServer redis;
  const TierTexts texts;
  const auto tier = make_redis_tier(redis.url(), kPatient);
  const TokenIds text = TierTexts::tokens(1, 64);
  const auto lives = [&] {  // ms; -1: for ever
    std::vector<std::int64_t> found;
    const RedisReply keys = ask(redis, {word("KEYS"), word("quire:*")});
    for (const auto& key : keys.list) found.push_back(ask(redis, {word("PTTL"), key}).integer);
    return found;
  };
  texts.store(*tier, text, 0, 200ms);
  texts.store(*tier, text, 0, 1h);
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(texts.load(*tier, text), 64);
  EXPECT_EQ(lives().size(), 8U) << "four blocks, and what follows each";
  for (const std::int64_t left : lives()) EXPECT_GT(left, 1);
  texts.store(*tier, text);
  for (const std::int64_t left : lives()) EXPECT_EQ(left, -1);
  EXPECT_EQ(texts.load(*tier, text), 64);
}

TEST(RedisTier, TimeToLive) {
  const RedisServer redis;
  const std::string url = redis.url();
  Server({.ttl = 1s, .redis_url = url, .redis_timeout = 10s}).serve(ramp(40));
  Server server({.ttl = 1s, .redis_url = url, .redis_timeout = 10s});
  EXPECT_EQ(server.serve(ramp(40)).reused, 39);
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(server.serve(ramp(40)).reused, 0);
}

TEST(RedisTier, SignsIn) {
  const RedisServer redis({"--requirepass", "secret"});
  const TierTexts texts;
  const TokenIds text = TierTexts::tokens(1, 40);
  EXPECT_EQ(texts.store(*make_redis_tier(redis.url(), kPatient), text), 0);
  RedisAddress address = parse_redis_url(redis.url());
  address.password = "wrong";
  EXPECT_THROW(RedisConnection(address, Clock::now() + 10s), RedisFailure);
  address.password = "secret";
  address.database = "3";
  RedisConnection line(address, Clock::now() + 10s);
  line.append({RedisConnection::word("DBSIZE")});
  EXPECT_EQ(line.next(Clock::now() + 10s).kind, RedisReply::Kind::kInteger);
}

class RedisBorders : public ::testing::TestWithParam<int> {};

TEST_P(RedisBorders, ReuseIsExact) {
  const RedisServer redis;
  const std::int64_t size = GetParam();
  TokenId salt = 0;
  for (const std::int64_t shared :
       {std::int64_t{0}, std::int64_t{1}, size - 1, size, size + 1, 2 * size, 2 * size + 1}) {
    TokenIds first = ramp(shared, salt += 1000);
    first.insert(first.end(), {-1, -2, -3});
    TokenIds second = ramp(shared, salt);
    second.insert(second.end(), {-7, -8, -9, -10});
    Server({.block_size = size, .redis_url = redis.url(), .redis_timeout = 10s})
        .serve(first, {.salt = "x" + std::to_string(salt)});
    Server server({.block_size = size, .redis_url = redis.url(), .redis_timeout = 10s});
    const PrefixScope scope{.salt = "x" + std::to_string(salt)};
    EXPECT_EQ(server.cache.lookup(server.model, second, scope).reused().remote, shared);
    server.cache.clear();
    const Server::Served served = server.serve(second, scope);
    EXPECT_EQ(served.reused, shared);
    EXPECT_EQ(served.last, server.cold(second));
    EXPECT_EQ(served.why.reason, shared > 0 ? MissReason::kDiverged : MissReason::kCold);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, RedisBorders, ::testing::Values(16, 32, 64));

TEST(RedisTier, RandomFamiliesEqualTheirColdRunsWhileRedisForgets) {
  const RedisServer redis({"--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru"});
  const testing::TemporaryFolder folder;
  std::mt19937 random(7);
  KvSpec spec = make_spec(/*window=*/20);
  std::vector<TokenIds> texts;
  std::int64_t remote = 0;
  for (int restart = 0; restart < 6; ++restart) {
    Server server({.bytes = spec.bytes_per_token() * 16 * (restart % 2 == 0 ? 6 : 400),
                   .block_size = 16,
                   .disk_path = restart % 3 == 2 ? folder.file("db") : "",
                   .redis_url = redis.url(),
                   .redis_timeout = 10s},
                  spec);
    for (int step = 0; step < 25; ++step) {
      const TokenIds& tokens = grow_family(texts, random);
      ASSERT_EQ(server.serve(tokens, {}, 1 + random() % 50).last, server.cold(tokens)) << step;
    }
    remote += server.cache.stats().remote_tokens;
  }
  EXPECT_GT(remote, 0);
}

TEST(RedisTier, KilledAndStartedAgain) {
  RedisServer redis;
  const TierTexts texts;
  const auto tier = make_redis_tier(redis.url(), {.timeout = 100ms});
  const TokenIds text = TierTexts::tokens(1, 100);
  texts.store(*tier, text);
  redis.kill();
  for (int i = 0; i < 20; ++i) {
    EXPECT_LT(time_of([&] { EXPECT_EQ(texts.load(*tier, text), 0); }), kSlack);
    EXPECT_LT(time_of([&] { EXPECT_EQ(texts.store(*tier, text), 0); }), kSlack);
  }
  EXPECT_GT(tier->stats().failures, 0);
  EXPECT_GT(tier->stats().skipped, 0);
  redis.start();
  EXPECT_TRUE(within(5s, [&] { return texts.store(*tier, text) == 7; }));
  EXPECT_EQ(texts.load(*tier, text), 100);
}

TEST(RedisTier, FrozenCostsOneTimeOut) {
  const RedisServer redis;
  const TierTexts texts;
  const auto tier = make_redis_tier(redis.url(), {.timeout = 100ms});
  const TokenIds text = TierTexts::tokens(1, 100);
  texts.store(*tier, text);
  redis.signal(SIGSTOP);
  EXPECT_LT(time_of([&] { EXPECT_EQ(texts.load(*tier, text), 0); }), 100ms + kSlack);
  EXPECT_EQ(tier->stats().timeouts, 1);
  const auto many = time_of([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(texts.load(*tier, text), 0);
  });
  EXPECT_LT(many, 1s) << "the others do not wait at all";
  EXPECT_EQ(tier->stats().skipped, 1000);
  redis.signal(SIGCONT);
  EXPECT_TRUE(within(10s, [&] { return texts.load(*tier, text) == 100; }));
}

TEST(RedisTier, FullRejectsAndGoesOnServing) {
  const RedisServer redis({"--maxmemory", "2mb", "--maxmemory-policy", "noeviction"});
  const TierTexts texts(20000);
  const auto tier = make_redis_tier(redis.url(), kPatient);
  const TokenIds first = TierTexts::tokens(0, 32);
  ASSERT_EQ(texts.store(*tier, first), 2);
  std::int64_t rejected = 0;
  for (std::uint32_t seed = 1; seed < 60; ++seed) {
    rejected += 2 - texts.store(*tier, TierTexts::tokens(seed, 32));
  }
  EXPECT_GT(rejected, 0);
  EXPECT_EQ(tier->stats().rejected_blocks, rejected);
  EXPECT_EQ(texts.load(*tier, first), 32);
  EXPECT_EQ(tier->stats().failures, 0);
}

TEST(RedisTier, ARequestSucceedsWhateverRedisDoes) {
  RedisServer redis;
  Server server({.redis_url = redis.url(), .redis_timeout = 100ms});
  const auto serve = [&](TokenId salt) {
    const TokenIds tokens = ramp(70, salt * 1000);
    Server::Served served;
    const auto took = time_of([&] { served = server.serve(tokens); });
    EXPECT_EQ(served.last, server.cold(tokens));
    EXPECT_LT(took, 100ms + kSlack);
  };
  serve(1);
  redis.signal(SIGSTOP);
  for (TokenId salt = 2; salt < 8; ++salt) serve(salt);
  redis.signal(SIGCONT);
  for (TokenId salt = 8; salt < 12; ++salt) serve(salt);
  redis.kill();
  for (TokenId salt = 12; salt < 16; ++salt) serve(salt);
}

}  // namespace
}  // namespace quire
