// SPDX-License-Identifier: Apache-2.0
#include "io/redis_connection.h"

#include <hiredis.h>
#include <poll.h>
#include <quire/error.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

namespace quire {
namespace {

constexpr std::size_t kReceiveBytes = 256 << 10;

std::span<const std::byte> bytes_of(const redisReply& reply) {
  return {reinterpret_cast<const std::byte*>(reply.str), reply.len};
}

// Without the user and the password, which end with the last @.
std::string shown(std::string_view url) {
  const auto at = url.rfind('@');
  return at == std::string_view::npos ? std::string(url) : "..." + std::string(url.substr(at));
}

[[noreturn]] void refuse_url(std::string_view url) {
  throw Error(ErrorCode::kInvalidArgument, "redis_url",
              "expected redis://[[user]:password@]host[:port][/database] or unix:/path, found " +
                  shown(url));
}

}  // namespace

RedisAddress parse_redis_url(std::string_view url) {
  RedisAddress address;
  std::string_view rest = url;
  if (rest.starts_with("unix:/")) {
    address.path = rest.substr(5);
    return address;
  }
  if (!rest.starts_with("redis://")) refuse_url(url);
  rest.remove_prefix(8);
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view login = rest.substr(0, at);
    const auto colon = login.find(':');
    if (colon == std::string_view::npos) refuse_url(url);
    address.user = login.substr(0, colon);
    address.password = login.substr(colon + 1);
    rest.remove_prefix(at + 1);
  }
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    address.database = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  if (const auto colon = rest.rfind(':'); colon != std::string_view::npos && rest.back() != ']') {
    const std::string_view port = rest.substr(colon + 1);
    const auto [end, failed] = std::from_chars(port.begin(), port.end(), address.port);
    if (failed != std::errc() || end != port.end() || address.port < 1 || address.port > 65535) {
      refuse_url(url);
    }
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) refuse_url(url);
  address.host = rest;
  return address;
}

void RedisConnection::Close::operator()(redisContext* context) const { redisFree(context); }

RedisConnection::RedisConnection(const RedisAddress& address, Deadline deadline)
    : context_(address.path.empty() ? redisConnectNonBlock(address.host.c_str(), address.port)
                                    : redisConnectUnixNonBlock(address.path.c_str())),
      in_(kReceiveBytes) {
  if (context_ == nullptr) throw std::bad_alloc();
  if (context_->err != 0) throw RedisFailure(context_->errstr, false);
  context_->reader->maxbuf = 0;  // else its buffer goes, and grows anew, with every block
  wait(POLLOUT, deadline);
  int failed = 0;
  socklen_t size = sizeof failed;
  if (getsockopt(context_->fd, SOL_SOCKET, SO_ERROR, &failed, &size) != 0) failed = errno;
  if (failed != 0) throw RedisFailure(std::strerror(failed), false);
  if (!address.password.empty()) {
    if (address.user.empty()) {
      ask({word("AUTH"), word(address.password)}, deadline);
    } else {
      ask({word("AUTH"), word(address.user), word(address.password)}, deadline);
    }
  }
  if (!address.database.empty()) ask({word("SELECT"), word(address.database)}, deadline);
  ask({word("PING")}, deadline);
}

void RedisConnection::ask(std::initializer_list<Bytes> words, Deadline deadline) {
  append(words);
  const RedisReply reply = next(deadline);
  if (reply.kind != RedisReply::Kind::kError) return;
  throw RedisFailure(
      std::string(reinterpret_cast<const char*>(reply.bytes.data()), reply.bytes.size()), false);
}

void RedisConnection::append(std::span<const Bytes> words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const Bytes& bytes : words) {
    texts.push_back(reinterpret_cast<const char*>(bytes.data()));
    sizes.push_back(bytes.size());
  }
  char* command = nullptr;
  const int size =
      redisFormatCommandArgv(&command, static_cast<int>(texts.size()), texts.data(), sizes.data());
  if (size < 0) throw std::bad_alloc();
  const std::unique_ptr<char, void (*)(char*)> owner(command, redisFreeCommand);
  out_.append(command, static_cast<std::size_t>(size));
}

void RedisConnection::wait(short events, Deadline deadline) const {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd poll_on{context_->fd, events, 0};
    const int ready = poll(&poll_on, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0) return;
    if (ready == 0) throw RedisFailure("no answer in time", true);
    if (errno != EINTR) throw RedisFailure(std::strerror(errno), false);
  }
}

void RedisConnection::flush(Deadline deadline) {
  while (sent_ < out_.size()) {
    const ssize_t n =
        send(context_->fd, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      sent_ += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait(POLLOUT, deadline);
    } else if (errno != EINTR) {
      throw RedisFailure(std::strerror(errno), false);
    }
  }
  out_.clear();
  sent_ = 0;
}

RedisReply RedisConnection::next(Deadline deadline) {
  flush(deadline);
  void* raw = nullptr;
  while (true) {
    if (redisReaderGetReply(context_->reader, &raw) != REDIS_OK) {
      throw RedisFailure(context_->reader->errstr, false);
    }
    if (raw != nullptr) break;
    const ssize_t n = recv(context_->fd, in_.data(), in_.size(), MSG_DONTWAIT);
    if (n == 0) throw RedisFailure("the server closed the connection", false);
    if (n > 0) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw RedisFailure("no whole answer in time", true);
      }
      redisReaderFeed(context_->reader, in_.data(), static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait(POLLIN, deadline);
    } else if (errno != EINTR) {
      throw RedisFailure(std::strerror(errno), false);
    }
  }
  RedisReply reply;
  reply.storage = std::shared_ptr<void>(raw, freeReplyObject);
  const auto& from = *static_cast<redisReply*>(raw);
  switch (from.type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      reply.kind = RedisReply::Kind::kBytes;
      reply.bytes = bytes_of(from);
      break;
    case REDIS_REPLY_INTEGER:
      reply.kind = RedisReply::Kind::kInteger;
      reply.integer = from.integer;
      break;
    case REDIS_REPLY_ARRAY:
      reply.kind = RedisReply::Kind::kList;
      for (std::size_t i = 0; i < from.elements; ++i) {
        reply.list.push_back(bytes_of(*from.element[i]));
      }
      break;
    case REDIS_REPLY_ERROR:
      reply.kind = RedisReply::Kind::kError;
      reply.bytes = bytes_of(from);
      break;
    default:
      break;
  }
  return reply;
}

}  // namespace quire
