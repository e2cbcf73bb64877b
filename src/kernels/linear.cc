// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear.h"

#include <algorithm>
#include <atomic>

#include "kernels/linear_kernels.h"

namespace quire::kernels {
namespace {

// Rows that a thread takes at once: their inputs, kDepth at a time, stay in the second-level
// cache while all panels pass by. A multiple of every tile height.
constexpr std::int64_t kRowBlock = 96;

// Units of work that a thread takes at once, so that one which is held up delays nobody much.
constexpr std::int64_t kClaimsPerThread = 8;

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

}  // namespace

void linear(const PackedMatrix& w, const float* x, std::int64_t m, std::int64_t ldx,
            const float* bias, float* y, std::int64_t ldy, ThreadPool* pool) {
  if (m <= 0 || w.rows() == 0) return;
  const LinearKernels& kernels = linear_kernels(active_isa());
  const LinearBlock block = block_for(kernels, w.dtype());
  const LinearCall call{w.data(), w.panel_bytes(), w.rows(), w.cols(), x, ldx, bias, y, ldy};

  // A unit is a block of rows by a group of panels; units of a row block follow each other.
  const std::int64_t row_blocks = (m + kRowBlock - 1) / kRowBlock;
  const std::int64_t threads = pool == nullptr ? 1 : pool->size();
  const std::int64_t claims = (threads * kClaimsPerThread + row_blocks - 1) / row_blocks;
  const std::int64_t stream = kernels.stream_panels;
  const std::int64_t group = std::max<std::int64_t>(1, w.panels() / claims / stream) * stream;
  const std::int64_t groups = (w.panels() + group - 1) / group;

  std::atomic<std::int64_t> next{0};
  run_on(pool, [&](int, int) {
    for (std::int64_t unit = next++; unit < row_blocks * groups; unit = next++) {
      const std::int64_t row = unit / groups * kRowBlock;
      const std::int64_t panel = unit % groups * group;
      block(call, row, std::min(m, row + kRowBlock), panel, std::min(w.panels(), panel + group));
    }
  });
}

}  // namespace quire::kernels
