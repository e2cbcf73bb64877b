// SPDX-License-Identifier: Apache-2.0
#include "tests/kv/naive.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/affine_codes.h"

namespace quire::testing {
namespace {

using Rows = std::vector<std::vector<double>>;  // [tokens][heads * dims]

double rounded(float x, DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return static_cast<double>(static_cast<float>(c10::BFloat16(x)));
    case DType::kF16:
      return static_cast<double>(static_cast<float>(c10::Half(x)));
    default:
      return static_cast<double>(x);
  }
}

// Codes numbers that share a scale, and decodes them again. (How well codes fit is tested with
// them: tests/kernels/affine_codes_test.cc.)
void code(const std::vector<double*>& numbers, int bits, Ends ends) {
  std::vector<float> x;
  for (const double* number : numbers) x.push_back(static_cast<float>(*number));
  const Affine affine = fit_affine(x, bits, ends);
  std::vector<std::uint8_t> codes(x.size());
  affine_codes(x, affine, bits, codes);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    *numbers[i] = double{affine.zero} + double{affine.scale} * static_cast<double>(codes[i]);
  }
}

void code_page(Rows& keys, Rows& values, std::size_t first, const KvLayer& shape,
               const Coding& coding) {
  const auto group = static_cast<std::size_t>(coding.group);
  const auto d = static_cast<std::size_t>(shape.head_dim);
  for (std::size_t channel = 0; channel < keys[first].size(); ++channel) {
    std::vector<double*> numbers;
    for (std::size_t t = first; t < first + group; ++t) numbers.push_back(&keys[t][channel]);
    code(numbers, coding.bits, Ends::kKept);
  }
  for (std::size_t t = first; t < first + group; ++t) {
    for (std::size_t head = 0; head < values[t].size(); head += d) {
      for (std::size_t c = 0; c < d; c += group) {
        std::vector<double*> numbers;
        for (std::size_t i = c; i < std::min(d, c + group); ++i) {
          numbers.push_back(&values[t][head + i]);
        }
        code(numbers, coding.bits, Ends::kMayBeCut);
      }
    }
  }
}

double dot(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::vector<double> naive_attention(const KvSpec& spec, std::int64_t layer,
                                    std::span<const std::uint64_t> history, std::int64_t position,
                                    float softcap, const Coding& coding) {
  const KvLayer& shape = spec.layers[static_cast<std::size_t>(layer)];
  Rows keys;
  Rows values;
  for (std::int64_t t = 0; t <= position; ++t) {
    const auto round = [&](Part part) {
      std::vector<double> row;
      for (const float x : row_of(history[static_cast<std::size_t>(t)], layer, part, shape)) {
        row.push_back(rounded(x, spec.dtype));
      }
      return row;
    };
    keys.push_back(round(Part::kKey));
    values.push_back(round(Part::kValue));
  }
  if (coding.bits > 0) {
    // A token in page s sees page j as codes when j + residual / group <= s.
    const std::int64_t coded = position / coding.group - coding.residual / coding.group;
    for (std::int64_t page = 1; page <= coded; ++page) {
      code_page(keys, values, static_cast<std::size_t>(page * coding.group), shape, coding);
    }
  }
  const std::vector<float> query =
      row_of(history[static_cast<std::size_t>(position)], layer, Part::kQuery, shape);
  const std::int64_t first =
      shape.window > 0 ? std::max<std::int64_t>(0, position - shape.window + 1) : 0;
  std::vector<double> out(query.size(), 0.0);
  const std::int64_t d = shape.head_dim;
  for (std::int64_t head = 0; head < shape.kv_heads * kGroup; ++head) {
    const std::vector<double> q(query.begin() + head * d, query.begin() + (head + 1) * d);
    std::vector<double> weights;
    for (std::int64_t s = first; s <= position; ++s) {
      const double score =
          static_cast<double>(kScale) *
          dot(q.data(),
              &keys[static_cast<std::size_t>(s)][static_cast<std::size_t>(head / kGroup * d)], d);
      const auto cap = static_cast<double>(softcap);
      weights.push_back(cap > 0 ? cap * std::tanh(score / cap) : score);
    }
    const double max = *std::ranges::max_element(weights);
    double sum = 0;
    for (double& w : weights) sum += w = std::exp(w - max);
    for (std::int64_t s = first; s <= position; ++s) {
      const double w = weights[static_cast<std::size_t>(s - first)] / sum;
      const std::vector<double>& value = values[static_cast<std::size_t>(s)];
      for (std::int64_t i = 0; i < d; ++i) {
        out[static_cast<std::size_t>(head * d + i)] +=
            w * value[static_cast<std::size_t>(head / kGroup * d + i)];
      }
    }
  }
  return out;
}

}  // namespace quire::testing
