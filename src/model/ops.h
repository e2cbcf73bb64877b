// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a decoder, and the one seam between devices: the decoder is written once over
// these operations. On the CPU activations are float32 whatever the weights are, and every
// operation is src/kernels', so a row's result depends on that row alone. The ATen implementation
// serves CUDA; it runs on CPU tensors too, which is how it is tested.
//
// Tensors here are matrices of activations, [tokens, width]: rows may be strided, elements of a row
// are contiguous. Outputs are written in place; unless said otherwise they overlap no input.
//
// Thread-safety: implementations are stateless; concurrent calls on distinct outputs are fine.
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/dtype.h>
#include <quire/model_config.h>
#include <quire/token.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/aligned_memory.h"
#include "kernels/thread_pool.h"
#include "model/weights_plan.h"

namespace quire {

// The weights of one linear layer or of an embedding, in the layout of the operations that made it.
class Matrix {
 public:
  virtual ~Matrix() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t cols() const = 0;
  virtual std::int64_t bytes() const = 0;
};

class Ops {
 public:
  virtual ~Ops() = default;

  // Weights, read, decoded and rearranged on `pool`, in memory of the arena if it is not null.
  virtual std::unique_ptr<const Matrix> matrix(const MatrixPlan& plan, DType dtype,
                                               ThreadPool* pool, WeightArena* arena) const = 0;
  virtual at::Tensor vector(std::span<const float> values) const = 0;

  // Uninitialised activations.
  virtual at::Tensor buffer(std::int64_t rows, std::int64_t cols) const = 0;

  // Cosines or sines, [tokens, dims / 2], from the CPU.
  virtual at::Tensor table(const std::vector<float>& values, std::int64_t cols) const = 0;

  // out[i] = row ids[i] of the table, times `scale`.
  virtual void embed(const Matrix& table, std::span<const TokenId> ids, float scale,
                     at::Tensor& out) const = 0;

  // y = x W^T + bias.
  virtual void linear(const Matrix& w, const at::Tensor& x, at::Tensor& y,
                      ThreadPool* pool) const = 0;

  // y = norm(x) * weight over whole rows (y may be x), and over each `weight`-sized head of a row
  // in place.
  virtual void rms_norm(const at::Tensor& x, const at::Tensor& weight, float eps, at::Tensor& y,
                        ThreadPool* pool) const = 0;
  virtual void head_norm(at::Tensor& x, const at::Tensor& weight, float eps,
                         ThreadPool* pool) const = 0;

  // Rotates the first 2 * cos-width dimensions of each head in place; row i by row i of cos, sin.
  virtual void rotate(at::Tensor& x, std::int64_t head_dim, const at::Tensor& cos,
                      const at::Tensor& sin, ThreadPool* pool) const = 0;

  // y = act(left half of x) * right half of x; y may be the left half.
  virtual void gated(Activation activation, const at::Tensor& x, at::Tensor& y,
                     ThreadPool* pool) const = 0;

  // y += scale * x.
  virtual void add(const at::Tensor& x, float scale, at::Tensor& y, ThreadPool* pool) const = 0;

  // y[i] = x[rows[i]]; y[rows[i]] += scales[i] * x[i].
  virtual void gather(const at::Tensor& x, std::span<const std::int64_t> rows,
                      at::Tensor& y) const = 0;
  virtual void scatter_add(const at::Tensor& x, std::span<const std::int64_t> rows,
                           std::span<const float> scales, at::Tensor& y) const = 0;

  virtual void zero(at::Tensor& x) const = 0;

  // softmax of each row, as float32 on the CPU: what a router decides by.
  virtual std::vector<float> probabilities(at::Tensor& logits, ThreadPool* pool) const = 0;

  // scale * x, then cap * tanh(x / cap) where cap > 0, as contiguous float32 on the CPU.
  virtual at::Tensor finish_logits(at::Tensor x, float scale, float cap,
                                   ThreadPool* pool) const = 0;
};

// src/kernels on float32 CPU tensors.
const Ops& cpu_ops();

// ATen on any device, activations in `dtype`. On CUDA it has not been run yet.
std::unique_ptr<const Ops> make_aten_ops(Device device, DType dtype);

}  // namespace quire
