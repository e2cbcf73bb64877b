// SPDX-License-Identifier: Apache-2.0
// The operations on ATen, for devices that src/kernels does not serve. Tested on CPU tensors; it
// has not been run on a GPU.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include <utility>

#include "model/ops.h"

namespace quire {

namespace {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return at::kBFloat16;
    case DType::kF16:
      return at::kHalf;
    case DType::kF32:
    case DType::kNative:  // not on this device
    case DType::kAuto:
      break;
  }
  return at::kFloat;
}

struct AtenMatrix final : Matrix {
  AtenMatrix(at::Tensor w, at::Tensor b) : weight(std::move(w)), bias(std::move(b)) {}

  std::int64_t rows() const override { return weight.size(0); }
  std::int64_t cols() const override { return weight.size(1); }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(weight.nbytes()); }

  at::Tensor weight;
  at::Tensor bias;  // undefined: none
};

const AtenMatrix& tensors(const Matrix& matrix) { return static_cast<const AtenMatrix&>(matrix); }

class AtenOps final : public Ops {
 public:
  AtenOps(Device device, DType dtype)
      : device_(device == Device::kCuda ? at::kCUDA : at::kCPU), type_(scalar_type(dtype)) {}

  std::unique_ptr<const Matrix> matrix(const MatrixPlan& plan, DType dtype, ThreadPool*,
                                       WeightArena*) const override {
    at::Tensor host = at::empty({plan.rows, plan.cols}, at::kFloat);
    read_rows(plan, 0, plan.rows, host.mutable_data_ptr<float>());
    const std::vector<float> bias = read_biases(plan);
    at::Tensor moved_bias;
    if (!bias.empty()) moved_bias = vector(bias).to(scalar_type(dtype));
    return std::make_unique<AtenMatrix>(host.to(device_, scalar_type(dtype)),
                                        std::move(moved_bias));
  }

  // Norm weights stay float32: the norm is computed in it.
  at::Tensor vector(std::span<const float> values) const override {
    at::Tensor host = at::empty({static_cast<std::int64_t>(values.size())}, at::kFloat);
    std::copy(values.begin(), values.end(), host.mutable_data_ptr<float>());
    return host.to(device_);
  }

  at::Tensor buffer(std::int64_t rows, std::int64_t cols) const override {
    return at::empty({rows, cols}, at::TensorOptions().device(device_).dtype(type_));
  }

  at::Tensor table(const std::vector<float>& values, std::int64_t cols) const override {
    return vector(values).view({-1, cols}).to(type_);
  }

  void embed(const Matrix& table, std::span<const TokenId> ids, float scale,
             at::Tensor& y) const override {
    const at::Tensor rows = at::embedding(tensors(table).weight, indices({ids.begin(), ids.end()}));
    y.copy_(rows.to(type_) * scale);
  }

  void linear(const Matrix& w, const at::Tensor& x, at::Tensor& y, ThreadPool*) const override {
    const AtenMatrix& matrix = tensors(w);
    y.copy_(at::linear(x.to(matrix.weight.scalar_type()), matrix.weight, matrix.bias));
  }

  void rms_norm(const at::Tensor& x, const at::Tensor& weight, float eps, at::Tensor& y,
                ThreadPool*) const override {
    y.copy_(normed(x, weight, eps));
  }

  void head_norm(at::Tensor& x, const at::Tensor& weight, float eps, ThreadPool*) const override {
    x.copy_(normed(x.unflatten(1, {-1, weight.size(0)}), weight, eps).flatten(1));
  }

  void rotate(at::Tensor& x, std::int64_t head_dim, const at::Tensor& cos, const at::Tensor& sin,
              ThreadPool*) const override {
    const at::Tensor heads = x.unflatten(1, {-1, head_dim});
    const std::int64_t half = cos.size(1);
    const at::Tensor left = heads.narrow(2, 0, half);
    const at::Tensor right = heads.narrow(2, half, half);
    const at::Tensor c = cos.unsqueeze(1);
    const at::Tensor s = sin.unsqueeze(1);
    const at::Tensor rest = heads.narrow(2, 2 * half, head_dim - 2 * half);
    x.copy_(at::cat({left * c - right * s, right * c + left * s, rest}, 2).flatten(1));
  }

  void gated(Activation activation, const at::Tensor& x, at::Tensor& y,
             ThreadPool*) const override {
    const std::int64_t cols = x.size(1) / 2;
    const at::Tensor gate = x.narrow(1, 0, cols);
    const at::Tensor up = x.narrow(1, cols, cols);
    switch (activation) {
      case Activation::kSilu:
        y.copy_(at::silu(gate) * up);
        return;
      case Activation::kGelu:
        y.copy_(at::gelu(gate) * up);
        return;
      case Activation::kGeluTanh:
        y.copy_(at::gelu(gate, "tanh") * up);
        return;
    }
  }

  void add(const at::Tensor& x, float scale, at::Tensor& y, ThreadPool*) const override {
    y.add_(x, scale);
  }

  void gather(const at::Tensor& x, std::span<const std::int64_t> rows,
              at::Tensor& y) const override {
    y.copy_(x.index_select(0, indices({rows.begin(), rows.end()})));
  }

  void scatter_add(const at::Tensor& x, std::span<const std::int64_t> rows,
                   std::span<const float> scales, at::Tensor& y) const override {
    y.index_add_(0, indices({rows.begin(), rows.end()}), x * vector(scales).to(type_).unsqueeze(1));
  }

  void zero(at::Tensor& x) const override { x.zero_(); }

  std::vector<float> probabilities(at::Tensor& logits, ThreadPool*) const override {
    const at::Tensor host = at::softmax(logits.to(at::kFloat), 1).to(at::kCPU).contiguous();
    const float* first = host.const_data_ptr<float>();
    return {first, first + host.numel()};
  }

  at::Tensor finish_logits(at::Tensor x, float scale, float cap, ThreadPool*) const override {
    x = x.to(at::kFloat);
    if (scale != 1) x = x * scale;
    if (cap > 0) x = at::tanh(x / cap) * cap;
    return x.to(at::kCPU).contiguous();
  }

 private:
  at::Tensor indices(std::vector<std::int64_t> values) const {
    const auto count = static_cast<std::int64_t>(values.size());
    return at::from_blob(values.data(), {count}, at::kLong).to(device_, at::kLong, false, true);
  }

  static at::Tensor normed(const at::Tensor& x, const at::Tensor& weight, float eps) {
    const at::Tensor wide = x.to(at::kFloat);
    return wide * at::rsqrt(wide.square().mean(-1, true) + eps) * weight;
  }

  at::DeviceType device_;
  at::ScalarType type_;
};

}  // namespace

std::unique_ptr<const Ops> make_aten_ops(Device device, DType dtype) {
  return std::make_unique<AtenOps>(device, dtype);
}

}  // namespace quire
