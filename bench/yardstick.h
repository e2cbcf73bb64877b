// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <span>
#include <string>

// What it costs to move bytes and nothing more, beside which files and tiers are measured, and what
// such measurements need besides.
namespace bench {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time);

// The least that `work` took so far.
class Least {
 public:
  void measure(const std::function<void()>& work);
  void take(double ms) { ms_ = ms < ms_ ? ms : ms_; }
  double ms() const { return ms_; }

 private:
  double ms_ = 1e300;
};

// Writes a new file from beginning to end and waits until the device has it. Throws
// std::runtime_error, as what follows does.
void write_plainly(const std::filesystem::path& file, std::span<const std::byte> bytes);

// Reads as many bytes of a file into memory that has been touched before.
void read_plainly(const std::filesystem::path& file, std::span<std::byte> into);

// A Redis, spoken to by plain writes and reads. `url`: unix:/path or redis://host:port (numbers).
class PlainRedis {
 public:
  explicit PlainRedis(const std::string& url);
  ~PlainRedis();
  PlainRedis(const PlainRedis&) = delete;
  PlainRedis& operator=(const PlainRedis&) = delete;

  // `count` values of `bytes` bytes each.
  void fill(std::int64_t count, std::int64_t bytes);

  // All of them by GETs that are sent together; the answers go over one buffer.
  void get_all() const;

  void remove_all() const;

 private:
  void send(std::span<const char> text) const;
  void skip_answer(std::int64_t bytes) const;

  int socket_ = -1;
  std::int64_t count_ = 0;
  std::int64_t bytes_ = 0;
};

// Tokens without meaning, which no text before had in this order.
class RandomTokens {
 public:
  explicit RandomTokens(std::int64_t vocab) : vocab_(vocab) {}
  quire::TokenIds next(std::int64_t count);
  quire::TokenIds after(quire::TokenIds prefix, std::int64_t count);

 private:
  std::int64_t vocab_;
  std::mt19937 random_{1};
};

// Bytes of the process that are in memory.
std::int64_t resident_bytes();

}  // namespace bench
