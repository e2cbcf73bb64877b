// SPDX-License-Identifier: Apache-2.0
#include "model/cpu_matrix.h"

#include <algorithm>
#include <span>

#include "formats/block.h"
#include "formats/block_codes.h"
#include "kernels/linear.h"
#include "kernels/quantised_linear.h"

namespace quire {

namespace {

// Rows [first, first + count) of a plan, which are encoded alike.
struct Run {
  BlockType type;
  std::int64_t first;
  std::int64_t count;
};

std::vector<Run> runs_of(const MatrixPlan& plan) {
  std::vector<Run> runs;
  std::int64_t first = 0;
  for (const TensorRows& part : plan.parts) {
    if (!runs.empty() && runs.back().type == part.tensor->type) {
      runs.back().count += part.count;
    } else {
      runs.push_back({part.tensor->type, first, part.count});
    }
    first += part.count;
  }
  return runs;
}

DType number_type(BlockType type) {
  if (type == BlockType::kF16) return DType::kF16;
  if (type == BlockType::kBF16) return DType::kBF16;
  return DType::kF32;
}

std::int64_t padded(std::int64_t rows) {
  return (rows + kPanelOutputs - 1) / kPanelOutputs * kPanelOutputs;
}

std::int64_t number_bytes(std::int64_t rows, std::int64_t cols, DType dtype) {
  const std::int64_t inputs = dtype == DType::kBF16 ? (cols + 1) / 2 * 2 : cols;
  return padded(rows) * inputs * (dtype == DType::kF32 ? 4 : 2);
}

PackedMatrix pack(const MatrixPlan& plan, std::int64_t begin, std::int64_t rows, DType dtype,
                  ThreadPool* pool, WeightArena* arena) {
  const RowSource source = [&plan, begin](std::int64_t first, std::int64_t count, float* out) {
    read_rows(plan, begin + first, count, out);
  };
  return PackedMatrix(rows, plan.cols, dtype, source, pool, arena);
}

// Takes row `row` of a plan apart, block by block.
void take_row(const MatrixPlan& plan, std::int64_t row, const QuantisedRow& out) {
  const auto part = std::find_if(plan.parts.begin(), plan.parts.end(), [&row](const TensorRows& p) {
    return row < p.count || (row -= p.count, false);
  });
  const TensorInfo& tensor = *part->tensor;
  const QuantisedFormat format = quantised_format(tensor.type);
  const std::int64_t blocks = plan.cols / format.block_inputs();
  const std::int64_t block_bytes = layout_of(tensor.type).bytes;
  const std::byte* block = tensor.data.data() + part->file_row(row) * blocks * block_bytes;
  const std::int64_t groups = format.units * format.groups;
  BlockCodes codes;
  for (std::int64_t b = 0; b < blocks; ++b, block += block_bytes) {
    take_apart(tensor.type, block, codes);
    std::copy_n(codes.codes.begin(), format.block_inputs(), out.codes + b * format.block_inputs());
    out.d[b] = codes.d;
    out.m[b] = codes.m;
    if (!format.grouped()) continue;
    std::copy_n(codes.scales.begin(), groups, out.scales + b * groups);
    std::copy_n(codes.mins.begin(), groups, out.mins + b * groups);
  }
}

}  // namespace

CpuMatrix::CpuMatrix(const MatrixPlan& plan, DType dtype, ThreadPool* pool, WeightArena* arena)
    : rows_(plan.rows), cols_(plan.cols), bias_(read_biases(plan)) {
  if (dtype != DType::kNative) {
    pieces_.push_back({0, pack(plan, 0, plan.rows, dtype, pool, arena)});
    return;
  }
  for (const Run& run : runs_of(plan)) {
    if (is_quantised(run.type)) {
      const QuantisedSource source = [&](std::int64_t row, const QuantisedRow& out) {
        take_row(plan, run.first + row, out);
      };
      pieces_.push_back(
          {run.first, QuantisedMatrix(run.count, plan.cols, run.type, source, pool, arena)});
    } else {
      pieces_.push_back(
          {run.first, pack(plan, run.first, run.count, number_type(run.type), pool, arena)});
    }
  }
}

std::int64_t CpuMatrix::packed_bytes(const MatrixPlan& plan, DType dtype) {
  if (dtype != DType::kNative) return number_bytes(plan.rows, plan.cols, dtype);
  std::int64_t bytes = 0;
  for (const Run& run : runs_of(plan)) {
    const QuantisedFormat format = quantised_format(run.type);
    bytes += is_quantised(run.type) ? padded(run.count) / kPanelOutputs *
                                          (plan.cols / format.block_inputs()) * format.block_bytes()
                                    : number_bytes(run.count, plan.cols, number_type(run.type));
  }
  return bytes;
}

std::int64_t CpuMatrix::bytes() const {
  std::int64_t sum = 0;
  for (const Piece& piece : pieces_) {
    sum += std::visit([](const auto& w) { return static_cast<std::int64_t>(w.bytes()); },
                      piece.weight);
  }
  return sum;
}

void CpuMatrix::row(std::int64_t n, float* out) const {
  const auto next = std::find_if(pieces_.begin() + 1, pieces_.end(),
                                 [n](const Piece& piece) { return piece.first > n; });
  const Piece& piece = *(next - 1);
  std::visit([&](const auto& w) { w.row(n - piece.first, out); }, piece.weight);
}

void CpuMatrix::multiply(const float* x, std::int64_t m, std::int64_t ldx, float* y,
                         std::int64_t ldy, ThreadPool* pool) const {
  for (const Piece& piece : pieces_) {
    const float* bias = bias_.empty() ? nullptr : bias_.data() + piece.first;
    std::visit(
        [&](const auto& w) { kernels::linear(w, x, m, ldx, bias, y + piece.first, ldy, pool); },
        piece.weight);
  }
}

}  // namespace quire
