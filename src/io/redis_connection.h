// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct redisContext;

namespace quire {

struct RedisAddress {
  std::string host = {};  // or
  std::string path = {};  // of a Unix socket
  int port = 6379;
  std::string user = {};
  std::string password = {};
  std::string database = {};
};

// redis://[[user]:password@]host[:port][/database] or unix:/path. Throws Error kInvalidArgument,
// which does not tell the user and password.
RedisAddress parse_redis_url(std::string_view url);

// The connection is of no use any more.
class RedisFailure : public std::runtime_error {
 public:
  RedisFailure(const std::string& what, bool late) : std::runtime_error(what), timed_out(late) {}
  const bool timed_out;
};

struct RedisReply {
  enum class Kind { kNil, kBytes, kInteger, kList, kError };
  Kind kind = Kind::kNil;
  std::span<const std::byte> bytes = {};  // of kBytes and kError
  std::int64_t integer = 0;
  std::vector<std::span<const std::byte>> list = {};
  std::shared_ptr<void> storage = nullptr;  // what the bytes are part of
};

// One connection, on which no call lasts longer than its deadline, whatever the server does (host
// names are looked up by the system, in its own time). hiredis speaks the protocol; bytes are sent
// and received here, because its own calls cannot be bounded in all and may raise SIGPIPE.
//
// Thread-safety: none.
class RedisConnection {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  using Bytes = std::span<const std::byte>;

  // Connected, signed in, and answering. Throws RedisFailure.
  RedisConnection(const RedisAddress& address, Deadline deadline);

  // Adds a command to those that go out with the next flush or reply.
  void append(std::span<const Bytes> words);
  void append(std::initializer_list<Bytes> words) {
    append(std::span(words.begin(), words.size()));
  }

  void flush(Deadline deadline);
  RedisReply next(Deadline deadline);  // the oldest command's that has none yet

  static Bytes word(std::string_view text) { return std::as_bytes(std::span(text)); }

 private:
  struct Close {
    void operator()(redisContext* context) const;
  };
  void wait(short events, Deadline deadline) const;
  void ask(std::initializer_list<Bytes> words, Deadline deadline);

  std::unique_ptr<redisContext, Close> context_;
  std::string out_;
  std::size_t sent_ = 0;
  std::vector<char> in_;
};

}  // namespace quire
