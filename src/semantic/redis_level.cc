// SPDX-License-Identifier: Apache-2.0
#include "semantic/redis_level.h"

#include <quire/error.h>
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include "semantic/checked_bytes.h"

namespace quire {
namespace {

constexpr auto word = RedisConnection::word;

}  // namespace

RedisLevel::RedisLevel(const std::string& url, const RedisLevelOptions& options)
    : options_(options), lines_(new RedisLines(url, options.timeout, 1)) {
  if (options.ttl.count() < 0) {
    throw Error(ErrorCode::kInvalidArgument, "ttl",
                "expected at least 0 ms, found " + std::to_string(options.ttl.count()));
  }
}

std::string RedisLevel::name_of(const std::string& key) const {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return "quire:" + options_.name_space + ":" + digits;
}

std::optional<RedisReply> RedisLevel::ask(std::span<const RedisConnection::Bytes> words) {
  const RedisLines::Deadline deadline = lines_->deadline();
  RedisReply reply;
  const auto outcome = lines_->use(0, deadline, [&](RedisConnection& redis) {
    redis.append(words);
    reply = redis.next(deadline);
  });
  if (outcome == RedisLines::Outcome::kSkipped) return std::nullopt;
  if (outcome == RedisLines::Outcome::kFailed) {
    throw Error(ErrorCode::kIo, "redis", "expected an answer in time, found none");
  }
  if (reply.kind == RedisReply::Kind::kError) {
    throw Error(ErrorCode::kIo, "redis",
                {reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size()});
  }
  return reply;
}

std::optional<std::string> RedisLevel::get(const std::string& key) {
  const std::string name = name_of(key);
  const auto reply = ask(std::array{word("GET"), word(name)});
  if (!reply || reply->kind != RedisReply::Kind::kBytes) return std::nullopt;
  CheckedReader in(0, reply->bytes);
  const bool same = in.list<std::string>() == key;
  std::string value = in.list<std::string>();
  if (in.sound() && same) return value;
  throw Error(ErrorCode::kCorrupt, name, "expected the value of its key, found other bytes");
}

void RedisLevel::put(const std::string& key, const std::string& value) {
  CheckedWriter out(0);
  out.list(key);
  out.list(value);
  const std::vector<std::byte> bytes = out.finish();
  const std::string name = name_of(key);
  const std::string ttl = std::to_string(options_.ttl.count());
  if (options_.ttl.count() > 0) {
    ask(std::array<RedisConnection::Bytes, 5>{word("SET"), word(name), bytes, word("PX"),
                                              word(ttl)});
  } else {
    ask(std::array<RedisConnection::Bytes, 3>{word("SET"), word(name), bytes});
  }
}

void RedisLevel::erase(const std::string& key) {
  const std::string name = name_of(key);
  ask(std::array{word("DEL"), word(name)});
}

std::shared_ptr<CacheLevel<std::string, std::string>> make_redis_level(
    const std::string& url, const RedisLevelOptions& options) {
  return std::make_shared<RedisLevel>(url, options);
}

}  // namespace quire
