// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>

#include "kernels/elementwise.h"
#include "model/cpu_matrix.h"
#include "model/ops.h"

namespace quire {

namespace {

const CpuMatrix& packed(const Matrix& matrix) { return static_cast<const CpuMatrix&>(matrix); }

const float* in(const at::Tensor& x) { return x.const_data_ptr<float>(); }
float* out(at::Tensor& x) { return x.mutable_data_ptr<float>(); }
const float* row(const at::Tensor& x, std::int64_t i) { return in(x) + i * x.stride(0); }
float* row(at::Tensor& x, std::int64_t i) { return out(x) + i * x.stride(0); }

class CpuOps final : public Ops {
 public:
  std::unique_ptr<const Matrix> matrix(const MatrixPlan& plan, DType dtype, ThreadPool* pool,
                                       WeightArena* arena) const override {
    return std::make_unique<CpuMatrix>(plan, dtype, pool, arena);
  }

  at::Tensor vector(std::span<const float> values) const override {
    at::Tensor result = at::empty({static_cast<std::int64_t>(values.size())}, at::kFloat);
    std::copy(values.begin(), values.end(), out(result));
    return result;
  }

  at::Tensor buffer(std::int64_t rows, std::int64_t cols) const override {
    return at::empty({rows, cols}, at::kFloat);
  }

  at::Tensor table(const std::vector<float>& values, std::int64_t cols) const override {
    at::Tensor result = buffer(static_cast<std::int64_t>(values.size()) / cols, cols);
    std::copy(values.begin(), values.end(), out(result));
    return result;
  }

  void embed(const Matrix& table, std::span<const TokenId> ids, float scale,
             at::Tensor& y) const override {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      packed(table).row(ids[i], row(y, static_cast<std::int64_t>(i)));
    }
    if (scale != 1) kernels::scale(out(y), y.stride(0), scale, y.size(0), y.size(1), nullptr);
  }

  void linear(const Matrix& w, const at::Tensor& x, at::Tensor& y,
              ThreadPool* pool) const override {
    packed(w).multiply(in(x), x.size(0), x.stride(0), out(y), y.stride(0), pool);
  }

  void rms_norm(const at::Tensor& x, const at::Tensor& weight, float eps, at::Tensor& y,
                ThreadPool* pool) const override {
    kernels::rms_norm(in(x), x.stride(0), in(weight), eps, x.size(0), x.size(1), out(y),
                      y.stride(0), pool);
  }

  void head_norm(at::Tensor& x, const at::Tensor& weight, float eps,
                 ThreadPool* pool) const override {
    const std::int64_t size = weight.size(0);
    for (std::int64_t at = 0; at < x.size(1); at += size) {
      kernels::rms_norm(in(x) + at, x.stride(0), in(weight), eps, x.size(0), size, out(x) + at,
                        x.stride(0), pool);
    }
  }

  void rotate(at::Tensor& x, std::int64_t head_dim, const at::Tensor& cos, const at::Tensor& sin,
              ThreadPool* pool) const override {
    kernels::rotate(out(x), x.size(0), x.size(1) / head_dim, head_dim, 2 * cos.size(1), x.stride(0),
                    in(cos), in(sin), pool);
  }

  void gated(Activation activation, const at::Tensor& x, at::Tensor& y,
             ThreadPool* pool) const override {
    const auto run = [&](auto& kernel) {
      const std::int64_t cols = x.size(1) / 2;
      kernel(in(x), x.stride(0), in(x) + cols, x.stride(0), x.size(0), cols, out(y), y.stride(0),
             pool);
    };
    switch (activation) {
      case Activation::kSilu:
        return run(kernels::silu_mul);
      case Activation::kGelu:
        return run(kernels::gelu_mul);
      case Activation::kGeluTanh:
        return run(kernels::gelu_tanh_mul);
    }
  }

  void add(const at::Tensor& x, float scale, at::Tensor& y, ThreadPool* pool) const override {
    if (scale == 1) {
      kernels::add(in(x), x.stride(0), x.size(0), x.size(1), out(y), y.stride(0), pool);
    } else {
      kernels::add_scaled(in(x), x.stride(0), scale, x.size(0), x.size(1), out(y), y.stride(0),
                          pool);
    }
  }

  void gather(const at::Tensor& x, std::span<const std::int64_t> rows,
              at::Tensor& y) const override {
    const auto bytes = static_cast<std::size_t>(x.size(1)) * sizeof(float);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::memcpy(row(y, static_cast<std::int64_t>(i)), row(x, rows[i]), bytes);
    }
  }

  void scatter_add(const at::Tensor& x, std::span<const std::int64_t> rows,
                   std::span<const float> scales, at::Tensor& y) const override {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      kernels::add_scaled(row(x, static_cast<std::int64_t>(i)), 0, scales[i], 1, x.size(1),
                          row(y, rows[i]), 0, nullptr);
    }
  }

  void zero(at::Tensor& x) const override {
    for (std::int64_t i = 0; i < x.size(0); ++i) std::fill_n(row(x, i), x.size(1), 0.0f);
  }

  std::vector<float> probabilities(at::Tensor& logits, ThreadPool* pool) const override {
    kernels::softmax(out(logits), logits.stride(0), logits.size(0), logits.size(1), pool);
    std::vector<float> result;
    result.reserve(static_cast<std::size_t>(logits.numel()));
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
      const float* first = row(std::as_const(logits), i);
      result.insert(result.end(), first, first + logits.size(1));
    }
    return result;
  }

  at::Tensor finish_logits(at::Tensor x, float scale, float cap, ThreadPool* pool) const override {
    if (scale != 1) kernels::scale(out(x), x.stride(0), scale, x.size(0), x.size(1), pool);
    if (cap > 0) kernels::softcap(out(x), x.stride(0), cap, x.size(0), x.size(1), pool);
    return x;
  }
};

}  // namespace

const Ops& cpu_ops() {
  static const CpuOps ops;
  return ops;
}

}  // namespace quire
