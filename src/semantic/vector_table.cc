// SPDX-License-Identifier: Apache-2.0
#include "semantic/vector_table.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "kernels/byte_products.h"

namespace quire {

namespace {

constexpr float kMostCode = 127;

// Rows whose products are taken at once.
constexpr std::size_t kScanned = 64;

bool closer(const Near& a, const Near& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

// Removes element(s) [row * width, …) by moving the last ones there.
template <typename T>
void move_last(std::vector<T>& values, std::size_t row, std::size_t width) {
  const auto to = values.begin() + static_cast<std::ptrdiff_t>(row * width);
  const auto last = values.end() - static_cast<std::ptrdiff_t>(width);
  if (to != last) std::copy(last, values.end(), to);
  values.erase(last, values.end());
  if (values.size() * 2 < values.capacity()) values.shrink_to_fit();
}

// Grows by an eighth: the spare rows count as bytes.
template <typename T>
void make_room(std::vector<T>& values, std::size_t rows, std::size_t width) {
  if (values.size() + width > values.capacity()) values.reserve((rows + rows / 8 + 4) * width);
}

}  // namespace

std::size_t VectorTable::bytes() const {
  return values_.capacity() * sizeof(float) + codes_.capacity() + coded_.capacity() * sizeof(Coded);
}

std::span<const float> VectorTable::row(std::size_t row) const {
  return std::span(values_).subspan(row * dimension_, dimension_);
}

VectorTable::Coded VectorTable::encode(std::span<const float> unit, std::int8_t* codes) const {
  float most = 0;
  for (const float value : unit) most = std::max(most, std::abs(value));
  const float scale = most / kMostCode;
  double missing = 0;
  for (std::size_t i = 0; i < dimension_; ++i) {
    const float code = scale > 0 ? std::nearbyint(unit[i] / scale) : 0;
    codes[i] = static_cast<std::int8_t>(code);
    const auto error = static_cast<double>(unit[i] - code * scale);
    missing += error * error;
  }
  return {scale, static_cast<float>(std::sqrt(missing))};
}

void VectorTable::add(std::span<const float> unit) {
  make_room(values_, rows(), dimension_);
  make_room(codes_, rows(), dimension_);
  make_room(coded_, rows(), 1);
  const std::size_t begin = codes_.size();
  codes_.resize(begin + dimension_);
  coded_.push_back(encode(unit, codes_.data() + begin));
  values_.insert(values_.end(), unit.begin(), unit.end());
}

void VectorTable::remove(std::size_t row) {
  move_last(values_, row, dimension_);
  move_last(codes_, row, dimension_);
  move_last(coded_, row, 1);
}

// Every row that may be among the `count` nearest, with the most that its score can be.
std::vector<Near> VectorTable::possible(std::span<const float> unit, std::size_t count) const {
  // For what single precision loses in a product of unit vectors.
  constexpr float kRounding = 1e-4F;
  std::vector<std::int8_t> codes(dimension_);
  const Coded asked = encode(unit, codes.data());
  const std::vector<std::int16_t> wide(codes.begin(), codes.end());
  std::array<std::int32_t, kScanned> products{};
  std::vector<Near> found;
  std::vector<float> least;  // the `count` greatest lower bounds, a heap with the smallest first
  const auto later = std::greater<>();
  for (std::size_t row = 0; row < rows(); ++row) {
    if (row % kScanned == 0) {
      const std::size_t some = std::min(kScanned, rows() - row);
      kernels::multiply_bytes(codes_.data() + row * dimension_, static_cast<std::int64_t>(some),
                              static_cast<std::int64_t>(dimension_), wide.data(), products.data());
    }
    const Coded& own = coded_[row];
    const float about = own.scale * asked.scale * static_cast<float>(products[row % kScanned]);
    // |x·y - x'·y'| <= |x - x'| |y| + |x'| |y - y'| by Cauchy and Schwarz.
    const float slack = own.error + (1 + own.error) * asked.error + kRounding;
    if (least.size() == count && about + slack < least.front()) continue;
    found.push_back({row, static_cast<double>(about + slack)});
    if (least.size() == count) {
      if (about - slack <= least.front()) continue;
      std::ranges::pop_heap(least, later);
      least.pop_back();
    }
    least.push_back(about - slack);
    std::ranges::push_heap(least, later);
  }
  if (least.size() == count && count > 0) {
    std::erase_if(
        found, [&](const Near& near) { return near.score < static_cast<double>(least.front()); });
  }
  return found;
}

std::vector<Near> VectorTable::nearest(std::span<const float> unit, std::size_t count) const {
  using Vector = Eigen::Map<const Eigen::VectorXf>;
  const auto size = static_cast<Eigen::Index>(dimension_);
  const Vector asked(unit.data(), size);
  std::vector<Near> found = possible(unit, count);
  for (Near& near : found) {
    near.score =
        static_cast<double>(Vector(values_.data() + near.row * dimension_, size).dot(asked));
  }
  const std::size_t kept = std::min(count, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    closer);
  found.resize(kept);
  return found;
}

}  // namespace quire
