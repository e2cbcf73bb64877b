// SPDX-License-Identifier: Apache-2.0
// Random quantised weights for tests of kernels, as codes, as numbers and packed.
#pragma once

#include <quire/checkpoint.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/half.h"
#include "kernels/quantised_matrix.h"

namespace quire {

inline constexpr BlockType kQuantisedTypes[] = {
    BlockType::kQ4_0, BlockType::kQ4_1, BlockType::kQ5_0, BlockType::kQ5_1, BlockType::kQ8_0,
    BlockType::kQ2_K, BlockType::kQ3_K, BlockType::kQ4_K, BlockType::kQ5_K, BlockType::kQ6_K};

class QuantisedWeights {
 public:
  // `extreme`: every code is the largest in magnitude that the type has.
  QuantisedWeights(std::int64_t n, std::int64_t k, BlockType type, unsigned seed = 1,
                   bool extreme = false)
      : type_(type), format_(quantised_format(type)), n_(n), k_(k), engine_(seed) {
    const int largest = (1 << format_.bits) - 1;
    fill(codes_, n * k, [&] {
      return extreme ? (format_.bits == 8 ? 0x80 : largest)
                     : static_cast<int>(engine_() & 0xff) & largest;
    });
    const std::int64_t blocks = n * k / format_.block_inputs();
    fill(d_, blocks, [&] { return half(0.01F); });
    fill(m_, blocks, [&] { return half(0.02F); });
    const std::int64_t groups = n * k / kUnit * format_.groups;
    // Of Q6_K a signed byte; of the others at most six bits.
    fill(scales_, groups, [&] {
      return type == BlockType::kQ6_K
                 ? static_cast<int>(engine_() & 0xff) - 128
                 : static_cast<int>(engine_() & 63) - (format_.has_min ? 0 : 32);
    });
    fill(mins_, groups, [&] { return static_cast<int>(engine_() & 63); });
  }

  std::int64_t n() const { return n_; }
  std::int64_t k() const { return k_; }

  QuantisedMatrix packed(ThreadPool* pool = nullptr) const {
    const QuantisedSource source = [this](std::int64_t row, const QuantisedRow& out) {
      copy(codes_, row, k_, out.codes);
      copy(d_, row, k_ / format_.block_inputs(), out.d);
      copy(m_, row, k_ / format_.block_inputs(), out.m);
      copy(scales_, row, k_ / kUnit * format_.groups, out.scales);
      copy(mins_, row, k_ / kUnit * format_.groups, out.mins);
    };
    return QuantisedMatrix(n_, k_, type_, source, pool);
  }

  // What the codes of row n stand for, by the types' definition.
  std::vector<float> row(std::int64_t n) const {
    std::vector<float> values;
    for (std::int64_t i = n * k_; i < (n + 1) * k_; ++i) {
      const std::size_t block = at(i / format_.block_inputs());
      const std::size_t group = at(i * format_.groups / kUnit);
      const float d = float_from_f16(d_[block]);
      const float m = float_from_f16(m_[block]);
      const int code = format_.bits == 8 ? static_cast<std::int8_t>(codes_[at(i)])
                                         : codes_[at(i)] - format_.offset;
      const float scale = format_.grouped() ? d * static_cast<float>(scales_[group]) : d;
      const float value = scale * static_cast<float>(code);
      const float min = format_.grouped() ? -m * static_cast<float>(mins_[group]) : m;
      values.push_back(format_.has_min ? value + min : value);
    }
    return values;
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::uint16_t half(float size) {
    return f16_from_float(std::normal_distribution<float>(0, size)(engine_));
  }

  template <typename T, typename Make>
  static void fill(std::vector<T>& values, std::int64_t count, const Make& make) {
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(make()));
  }

  template <typename T>
  static void copy(const std::vector<T>& values, std::int64_t row, std::int64_t count, T* out) {
    std::copy_n(values.begin() + row * count, count, out);
  }

  BlockType type_;
  QuantisedFormat format_;
  std::int64_t n_;
  std::int64_t k_;
  std::mt19937 engine_;
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint16_t> d_;
  std::vector<std::uint16_t> m_;
  std::vector<std::int8_t> scales_;
  std::vector<std::uint8_t> mins_;
};

}  // namespace quire
