// SPDX-License-Identifier: Apache-2.0
#include "yardstick.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace bench {
namespace {

void check(bool good, const std::string& doing) {
  if (!good) throw std::runtime_error(doing + ": " + std::strerror(errno));
}

int connect_to(const std::string& url) {
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (url.starts_with("unix:")) {
    auto& address = reinterpret_cast<sockaddr_un&>(storage);
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, url.c_str() + 5, sizeof address.sun_path - 1);
    size = sizeof address;
  } else {
    const std::string rest = url.substr(std::string("redis://").size());
    const auto colon = rest.find(':');
    auto& address = reinterpret_cast<sockaddr_in&>(storage);
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(
        colon == std::string::npos ? 6379 : std::stoi(rest.substr(colon + 1))));
    check(inet_pton(AF_INET, rest.substr(0, colon).c_str(), &address.sin_addr) == 1, url);
    size = sizeof address;
  }
  const int fd = ::socket(storage.ss_family, SOCK_STREAM, 0);
  check(fd >= 0 && ::connect(fd, reinterpret_cast<sockaddr*>(&storage), size) == 0, url);
  return fd;
}

std::string name_of(std::int64_t i) { return "quire-bench:" + std::to_string(i); }

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

}  // namespace

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void Least::measure(const std::function<void()>& work) {
  const Clock::time_point start = Clock::now();
  work();
  take(milliseconds(Clock::now() - start));
}

void write_plainly(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  check(fd >= 0, file);
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    check(n > 0, file);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  check(::fsync(fd) == 0 && ::close(fd) == 0, file);
}

void read_plainly(const std::filesystem::path& file, std::span<std::byte> into) {
  const int fd = ::open(file.c_str(), O_RDONLY);
  check(fd >= 0, file);
  while (!into.empty()) {
    const ssize_t n = ::read(fd, into.data(), into.size());
    check(n > 0, file);
    into = into.subspan(static_cast<std::size_t>(n));
  }
  ::close(fd);
}

PlainRedis::PlainRedis(const std::string& url) : socket_(connect_to(url)) {}

PlainRedis::~PlainRedis() { ::close(socket_); }

void PlainRedis::send(std::span<const char> text) const {
  while (!text.empty()) {
    const ssize_t n = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    check(n > 0, "Redis");
    text = text.subspan(static_cast<std::size_t>(n));
  }
}

void PlainRedis::skip_answer(std::int64_t bytes) const {
  static std::vector<char> buffer(1 << 20);
  while (bytes > 0) {
    const auto most = static_cast<std::size_t>(std::min<std::int64_t>(bytes, std::ssize(buffer)));
    const ssize_t n = ::recv(socket_, buffer.data(), most, 0);
    check(n > 0, "Redis");
    bytes -= n;
  }
}

void PlainRedis::fill(std::int64_t count, std::int64_t bytes) {
  count_ = count;
  bytes_ = bytes;
  const std::string value(static_cast<std::size_t>(bytes), 'x');
  for (std::int64_t i = 0; i < count; ++i) {
    send("*3\r\n$3\r\nSET\r\n" + bulk(name_of(i)) + bulk(value));
    skip_answer(std::ssize(std::string("+OK\r\n")));
  }
}

void PlainRedis::get_all() const {
  std::string commands;
  for (std::int64_t i = 0; i < count_; ++i) commands += "*2\r\n$3\r\nGET\r\n" + bulk(name_of(i));
  send(commands);
  const std::int64_t around = std::ssize("$" + std::to_string(bytes_) + "\r\n\r\n");
  skip_answer(count_ * (bytes_ + around));
}

void PlainRedis::remove_all() const {
  for (std::int64_t i = 0; i < count_; ++i) {
    send("*2\r\n$3\r\nDEL\r\n" + bulk(name_of(i)));
    skip_answer(std::ssize(std::string(":1\r\n")));
  }
}

quire::TokenIds RandomTokens::next(std::int64_t count) {
  quire::TokenIds ids;
  for (std::int64_t i = 0; i < count; ++i) {
    ids.push_back(
        static_cast<quire::TokenId>(100 + random_() % static_cast<unsigned>(vocab_ - 200)));
  }
  return ids;
}

quire::TokenIds RandomTokens::after(quire::TokenIds prefix, std::int64_t count) {
  const quire::TokenIds more = next(count);
  prefix.insert(prefix.end(), more.begin(), more.end());
  return prefix;
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0;
  std::int64_t resident = 0;
  statm >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace bench
