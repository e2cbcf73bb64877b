// SPDX-License-Identifier: Apache-2.0
// Numbers, texts and arrays as bytes that end with a checksum (XXH3-64, seeded), little-endian: a
// list is its length as a uint64 and its elements as they lie.
//
// Thread-safety: none.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace quire {

class CheckedWriter {
 public:
  explicit CheckedWriter(std::uint64_t seed) : seed_(seed) {}

  template <typename Number>
  void number(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    raw(std::as_bytes(std::span(&value, 1)));
  }

  template <typename Range>
  void list(const Range& values) {
    number<std::uint64_t>(values.size());
    raw(std::as_bytes(std::span(values)));
  }

  std::vector<std::byte> finish() {
    number(XXH3_64bits_withSeed(bytes_.data(), bytes_.size(), seed_));
    return std::move(bytes_);
  }

 private:
  void raw(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  std::uint64_t seed_;
  std::vector<std::byte> bytes_;
};

// Reads what CheckedWriter wrote; after a false `sound()` everything read is zero or empty.
class CheckedReader {
 public:
  CheckedReader(std::uint64_t seed, std::span<const std::byte> bytes) : left_(bytes) {
    std::uint64_t sum = 0;
    if (bytes.size() < sizeof(sum)) {
      fail();
      return;
    }
    left_ = bytes.first(bytes.size() - sizeof(sum));
    std::memcpy(&sum, bytes.data() + left_.size(), sizeof(sum));
    if (sum != XXH3_64bits_withSeed(left_.data(), left_.size(), seed)) fail();
  }

  template <typename Number>
  Number number() {
    Number value{};
    if (left_.size() < sizeof(value)) {
      fail();
      return value;
    }
    std::memcpy(&value, left_.data(), sizeof(value));
    left_ = left_.subspan(sizeof(value));
    return value;
  }

  template <typename Range>
  Range list() {
    using Element = typename Range::value_type;
    const auto count = number<std::uint64_t>();
    Range values;
    if (count > left_.size() / sizeof(Element)) {
      fail();
      return values;
    }
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), left_.data(), count * sizeof(Element));
    left_ = left_.subspan(count * sizeof(Element));
    return values;
  }

  bool sound() const { return sound_; }

 private:
  void fail() {
    sound_ = false;
    left_ = {};
  }

  std::span<const std::byte> left_;
  bool sound_ = true;
};

}  // namespace quire
