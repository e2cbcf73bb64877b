// SPDX-License-Identifier: Apache-2.0
#include "kernels/encoder_attention.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "kernels/elementwise_kernels.h"
#include "kernels/linear_kernels.h"
#include "kernels/packed_matrix.h"

namespace quire::kernels {
namespace {

using std::int64_t;

constexpr int64_t kPanel = PackedMatrix::kPanel;

// Queries whose scores are held at once.
constexpr int64_t kQueryBlock = 64;

int64_t panels(int64_t outputs) { return (outputs + kPanel - 1) / kPanel; }

// Both products of a head are those of a linear layer whose weights are the keys, then the values.
class HeadWorker {
 public:
  // `longest`: tokens of the longest text that will be asked for.
  HeadWorker(const EncoderAttention& attention, int64_t longest)
      : attention_(attention),
        linear_(linear_kernels(active_isa())),
        elementwise_(elementwise_kernels(active_isa())),
        keys_(allocate(panels(longest) * kPanel * attention.head_dim)),
        values_(allocate(longest * panels(attention.head_dim) * kPanel)),
        queries_(allocate(std::min(longest, kQueryBlock) * attention.head_dim)),
        scores_(allocate(std::min(longest, kQueryBlock) * longest)) {}

  // One head of the text in rows [first, first + tokens).
  void attend(int64_t first, int64_t tokens, int64_t head) {
    const int64_t width = attention_.heads * attention_.head_dim;
    const float* rows = attention_.qkv + first * attention_.qkv_stride + head * attention_.head_dim;
    pack_keys(rows + width, tokens);
    pack_values(rows + 2 * width, tokens);
    for (int64_t query = 0; query < tokens; query += kQueryBlock) {
      const int64_t count = std::min(kQueryBlock, tokens - query);
      score(rows + query * attention_.qkv_stride, query, count, tokens, head);
      multiply(
          values_.get(), attention_.head_dim, tokens, scores_.get(), count,
          attention_.out + (first + query) * attention_.out_stride + head * attention_.head_dim,
          attention_.out_stride);
    }
  }

 private:
  using Floats = std::unique_ptr<float[]>;

  static Floats allocate(int64_t count) {
    return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
  }

  // [panel][dimension][16 tokens]
  void pack_keys(const float* from, int64_t tokens) {
    const int64_t dims = attention_.head_dim;
    for (int64_t t = 0; t < panels(tokens) * kPanel; ++t) {
      float* to = keys_.get() + t / kPanel * kPanel * dims + t % kPanel;
      for (int64_t d = 0; d < dims; ++d) {
        to[d * kPanel] = t < tokens ? from[t * attention_.qkv_stride + d] : 0.0F;
      }
    }
  }

  // [panel][token][16 dimensions]
  void pack_values(const float* from, int64_t tokens) {
    float* to = values_.get();
    for (int64_t d = 0; d < attention_.head_dim; d += kPanel) {
      const int64_t count = std::min(kPanel, attention_.head_dim - d);
      for (int64_t t = 0; t < tokens; ++t, to += kPanel) {
        std::copy_n(from + t * attention_.qkv_stride + d, count, to);
        std::fill(to + count, to + kPanel, 0.0F);
      }
    }
  }

  void score(const float* from, int64_t query, int64_t count, int64_t tokens, int64_t head) {
    const int64_t dims = attention_.head_dim;
    float* scores = scores_.get();
    elementwise_.scale(from, attention_.qkv_stride, attention_.scale, count, dims, queries_.get(),
                       dims);
    multiply(keys_.get(), tokens, dims, queries_.get(), count, scores, tokens);
    if (attention_.bias != nullptr) {
      const float* middle = attention_.bias + head * attention_.bias_stride;
      elementwise_.add_scaled(middle - query, -1, 1.0F, count, tokens, scores, tokens);
    }
    elementwise_.softmax(scores, tokens, count, tokens, scores, tokens);
  }

  // y[count, n] = x[count, k] times the packed n outputs of k inputs.
  void multiply(const float* packed, int64_t n, int64_t k, const float* x, int64_t count, float* y,
                int64_t ldy) const {
    const LinearCall call{reinterpret_cast<const std::byte*>(packed),
                          static_cast<std::size_t>(k * kPanel) * sizeof(float),
                          n,
                          k,
                          x,
                          k,
                          nullptr,
                          y,
                          ldy};
    linear_.f32(call, 0, count, 0, panels(n));
  }

  const EncoderAttention& attention_;
  const LinearKernels& linear_;
  const ElementwiseKernels& elementwise_;
  Floats keys_;
  Floats values_;
  Floats queries_;
  Floats scores_;
};

}  // namespace

void attend_to_all(const EncoderAttention& attention, ThreadPool* pool) {
  const auto texts = static_cast<int64_t>(attention.ends.size());
  const auto first_of = [&](int64_t text) {
    return text == 0 ? 0 : attention.ends[static_cast<std::size_t>(text - 1)];
  };
  int64_t longest = 0;
  for (int64_t text = 0; text < texts; ++text) {
    longest = std::max(longest, first_of(text + 1) - first_of(text));
  }
  if (longest == 0) return;
  std::atomic<int64_t> next{0};
  run_on(pool, [&](int, int) {
    HeadWorker worker(attention, longest);
    for (int64_t unit = next++; unit < texts * attention.heads; unit = next++) {
      const int64_t first = first_of(unit / attention.heads);
      const int64_t tokens = first_of(unit / attention.heads + 1) - first;
      worker.attend(first, tokens, unit % attention.heads);
    }
  });
}

}  // namespace quire::kernels
