// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear.h"

#include <algorithm>
#include <memory>

#include "kernels/claims.h"
#include "kernels/linear_kernels.h"

namespace quire::kernels {
namespace {

// Rows that a thread takes at once: their inputs, kDepth at a time, stay in the second-level
// cache while all panels pass by. A multiple of every tile height.
constexpr std::int64_t kRowBlock = 96;

// Below this many pairs a hand-over to other threads costs more than it saves.
constexpr std::int64_t kSmall = 16384;

LinearBlock block_for(const LinearKernels& kernels, DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return kernels.bf16;
    case DType::kF16:
      return kernels.f16;
    case DType::kF32:
    case DType::kNative:
    case DType::kAuto:
      break;
  }
  return kernels.f32;
}

void multiply(const LinearKernels& kernels, LinearBlock block, const LinearCall& call,
              std::int64_t m, std::int64_t panels, ThreadPool* pool) {
  // What threads take is groups of panels for a block of rows; those of a block follow each other.
  const std::int64_t row_blocks = (m + kRowBlock - 1) / kRowBlock;
  const std::int64_t group = kernels.stream_panels;
  const std::int64_t groups = (panels + group - 1) / group;
  Claims claims(row_blocks * groups, pool);
  run_on(pool, [&](int, int) {
    claims.over_rows(groups, [&](std::int64_t row_block, std::int64_t first, std::int64_t last) {
      const std::int64_t row = row_block * kRowBlock;
      block(call, row, std::min(m, row + kRowBlock), first * group, std::min(panels, last * group));
    });
  });
}

}  // namespace

bool rounds_inputs(DType dtype) {
  return dtype == DType::kBF16 && linear_kernels(active_isa()).round_to_pairs != nullptr;
}

void linear(const PackedMatrix& w, const float* x, std::int64_t m, std::int64_t ldx,
            const float* bias, float* y, std::int64_t ldy, ThreadPool* pool) {
  if (m <= 0 || w.rows() == 0) return;
  const LinearKernels& kernels = linear_kernels(active_isa());
  const LinearBlock block = block_for(kernels, w.dtype());
  LinearCall call{w.data(), w.panel_bytes(), w.rows(), w.cols(), x, ldx, bias, y, ldy};

  if (!rounds_inputs(w.dtype())) return multiply(kernels, block, call, m, w.panels(), pool);

  const std::int64_t pairs = (w.cols() + 1) / 2;
  const auto rounded = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(m * pairs));
  run_on(m * pairs < kSmall ? nullptr : pool, [&](int part, int parts) {
    const Slice slice = slice_of(m, 1, part, parts);
    for (std::int64_t r = slice.first; r < slice.last; ++r) {
      kernels.round_to_pairs(x + r * ldx, w.cols(), rounded.get() + r * pairs);
    }
  });
  call.k = pairs;
  call.x = rounded.get();
  call.ldx = pairs;
  multiply(kernels, block, call, m, w.panels(), pool);
}

}  // namespace quire::kernels
