// SPDX-License-Identifier: Apache-2.0
#include "kernels/packed_matrix.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "kernels/half.h"

namespace quire {
namespace {

std::size_t input_bytes(DType dtype) {
  return PackedMatrix::kPanel * (dtype == DType::kF32 ? sizeof(float) : sizeof(std::uint16_t));
}

// Index, in 16-bit elements, of output r of a panel at input k.
std::int64_t bf16_index(std::int64_t k, std::int64_t r) {
  return (k / 2 * PackedMatrix::kPanel + r) * 2 + k % 2;
}

void pack_row(DType dtype, std::int64_t cols, std::int64_t r, const float* row, std::byte* panel) {
  auto* halves = reinterpret_cast<std::uint16_t*>(panel);
  auto* floats = reinterpret_cast<float*>(panel);
  for (std::int64_t k = 0; k < cols; ++k) {
    switch (dtype) {
      case DType::kBF16:
        halves[bf16_index(k, r)] = bf16_from_float(row[k]);
        break;
      case DType::kF16:
        halves[k * PackedMatrix::kPanel + r] = f16_from_float(row[k]);
        break;
      case DType::kF32:
      case DType::kNative:
      case DType::kAuto:
        floats[k * PackedMatrix::kPanel + r] = row[k];
        break;
    }
  }
}

}  // namespace

std::size_t PackedMatrix::panel_bytes() const noexcept {
  const std::int64_t inputs = dtype_ == DType::kBF16 ? (cols_ + 1) / 2 * 2 : cols_;
  return static_cast<std::size_t>(inputs) * input_bytes(dtype_);
}

PackedMatrix::PackedMatrix(std::int64_t rows, std::int64_t cols, DType dtype,
                           const RowSource& source, ThreadPool* pool, WeightArena* arena)
    : rows_(rows), cols_(cols), dtype_(dtype) {
  if (bytes() == 0) return;
  data_ = arena == nullptr ? allocate_aligned(bytes()) : arena->take(bytes());
  std::atomic<std::int64_t> next{0};
  run_on(pool, [&](int, int) {
    std::vector<float> floats(static_cast<std::size_t>(kPanel * cols_));
    for (std::int64_t p = next++; p < panels(); p = next++) {
      const std::int64_t count = std::min(kPanel, rows_ - p * kPanel);
      std::byte* panel = data_.get() + static_cast<std::size_t>(p) * panel_bytes();
      std::memset(panel, 0, panel_bytes());
      source(p * kPanel, count, floats.data());
      for (std::int64_t r = 0; r < count; ++r) {
        pack_row(dtype_, cols_, r, floats.data() + r * cols_, panel);
      }
    }
  });
}

void PackedMatrix::row(std::int64_t n, float* out) const {
  const std::byte* panel = data_.get() + static_cast<std::size_t>(n / kPanel) * panel_bytes();
  const auto* halves = reinterpret_cast<const std::uint16_t*>(panel);
  const auto* floats = reinterpret_cast<const float*>(panel);
  const std::int64_t r = n % kPanel;
  for (std::int64_t k = 0; k < cols_; ++k) {
    switch (dtype_) {
      case DType::kBF16:
        out[k] = float_from_bf16(halves[bf16_index(k, r)]);
        break;
      case DType::kF16:
        out[k] = float_from_f16(halves[k * kPanel + r]);
        break;
      case DType::kF32:
      case DType::kNative:
      case DType::kAuto:
        out[k] = floats[k * kPanel + r];
        break;
    }
  }
}

}  // namespace quire
