// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "kernels/linear_kernels.h"

namespace quire::kernels {
namespace {

// Rows that a thread takes at once: their inputs, kDepth at a time, stay in the second-level
// cache while all panels pass by. A multiple of every tile height.
constexpr std::int64_t kRowBlock = 96;

// Units of work that a thread takes at once, so that one which is held up delays nobody much.
constexpr std::int64_t kClaimsPerThread = 8;

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
  // A unit is a block of rows by a group of panels; units of a row block follow each other.
  const std::int64_t row_blocks = (m + kRowBlock - 1) / kRowBlock;
  const std::int64_t threads = pool == nullptr ? 1 : pool->size();
  const std::int64_t claims = (threads * kClaimsPerThread + row_blocks - 1) / row_blocks;
  const std::int64_t stream = kernels.stream_panels;
  const std::int64_t group = std::max<std::int64_t>(1, panels / claims / stream) * stream;
  const std::int64_t groups = (panels + group - 1) / group;

  std::atomic<std::int64_t> next{0};
  run_on(pool, [&](int, int) {
    for (std::int64_t unit = next++; unit < row_blocks * groups; unit = next++) {
      const std::int64_t row = unit / groups * kRowBlock;
      const std::int64_t panel = unit % groups * group;
      block(call, row, std::min(m, row + kRowBlock), panel, std::min(panels, panel + group));
    }
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
