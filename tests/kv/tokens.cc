// SPDX-License-Identifier: Apache-2.0
#include "tests/kv/tokens.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace quire::testing {
namespace {

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

at::Tensor rows_of(std::span<const std::uint64_t> tokens, std::int64_t layer, Part part,
                   const KvLayer& shape) {
  const std::int64_t heads = shape.kv_heads * (part == Part::kQuery ? kGroup : 1);
  at::Tensor rows = at::empty({std::ssize(tokens), heads, shape.head_dim}, at::kFloat);
  float* to = rows.mutable_data_ptr<float>();
  for (const std::uint64_t token : tokens) {
    to = std::ranges::copy(row_of(token, layer, part, shape), to).out;
  }
  return rows;
}

}  // namespace

std::vector<float> row_of(std::uint64_t token, std::int64_t layer, Part part,
                          const KvLayer& shape) {
  const std::int64_t heads = shape.kv_heads * (part == Part::kQuery ? kGroup : 1);
  std::vector<float> row(static_cast<std::size_t>(heads * shape.head_dim));
  std::uint64_t state =
      mix(token ^ mix(static_cast<std::uint64_t>(layer) * 4 + static_cast<std::uint64_t>(part)));
  for (float& x : row) {
    state = mix(state);
    x = static_cast<float>(static_cast<std::int64_t>(state) >> 32) * 0x1p-30F;  // [-2, 2)
  }
  return row;
}

Outputs append_without_commit(KvCache& cache, const KvSpec& spec,
                              std::span<const std::uint64_t> tokens, const PassOptions& options) {
  Outputs outputs;
  cache.prepare(std::ssize(tokens));
  for (std::int64_t layer = 0; layer < std::ssize(spec.layers); ++layer) {
    const KvLayer& shape = spec.layers[static_cast<std::size_t>(layer)];
    const at::Tensor q = rows_of(tokens, layer, Part::kQuery, shape);
    const at::Tensor k = rows_of(tokens, layer, Part::kKey, shape);
    const at::Tensor v = rows_of(tokens, layer, Part::kValue, shape);
    at::Tensor out = at::empty(q.sizes(), at::kFloat);
    cache.attend({.layer = layer,
                  .q = q,
                  .k = k,
                  .v = v,
                  .out = out,
                  .scale = kScale,
                  .softcap = options.softcap,
                  .threads = options.threads});
    const float* from = out.const_data_ptr<float>();
    outputs.insert(outputs.end(), from, from + out.numel());
  }
  return outputs;
}

Outputs append(KvCache& cache, const KvSpec& spec, std::span<const std::uint64_t> tokens,
               const PassOptions& options) {
  Outputs outputs = append_without_commit(cache, spec, tokens, options);
  cache.commit();
  return outputs;
}

History make_tokens(std::uint64_t seed, std::int64_t count) {
  History tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(mix(seed * 1000003 + static_cast<std::uint64_t>(i)));
  }
  return tokens;
}

}  // namespace quire::testing
