// SPDX-License-Identifier: Apache-2.0
// kv_quality MODEL TEXT_FILE [NEW_TOKENS]: what quantised keys and values cost, and what they save.
//
// Feeds a text and its greedy continuation (by the float32 cache) to a float32 model over caches of
// 8, 4 and 2 bits, and compares the distributions of the next token with the float32 cache's, once
// over every position fed token by token and once over the continuation alone. Bytes are those at
// 1,024 tokens of a bfloat16 model, as a share of the unquantised cache's.
#include <ATen/core/Tensor.h>
#include <quire/dynamic_cache.h>
#include <quire/model.h>
#include <quire/quantized_cache.h>
#include <quire/tokenizer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Distribution = std::vector<float>;  // natural logs of probabilities

std::int64_t argmax(const Distribution& d) {
  return std::max_element(d.begin(), d.end()) - d.begin();
}

Distribution next(const quire::Model& model, quire::KvCache& cache, quire::TokenId id) {
  const quire::Sequence sequence{{&id, 1}, cache, 1};
  const at::Tensor logits = model.forward({&sequence, 1});
  const float* begin = logits.const_data_ptr<float>();
  Distribution d(begin, begin + logits.numel());
  const double top{*std::max_element(d.begin(), d.end())};
  double sum = 0;
  for (const float x : d) sum += std::exp(double{x} - top);
  const auto norm = static_cast<float>(top + std::log(sum));
  for (float& x : d) x -= norm;
  return d;
}

double divergence(const Distribution& reference, const Distribution& other) {
  double sum = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double log_p = reference[i];
    sum += std::exp(log_p) * (log_p - static_cast<double>(other[i]));
  }
  return sum;
}

struct Mean {
  double kl = 0;
  double agreed = 0;
  int count = 0;

  void add(const Distribution& reference, const Distribution& other) {
    kl += divergence(reference, other);
    agreed += argmax(reference) == argmax(other) ? 1 : 0;
    ++count;
  }
  void print() const { std::printf("  %9.6f  %6.2f %%", kl / count, 100 * agreed / count); }
};

double share_of_bf16(const quire::Model& model, int nbits) {
  quire::KvSpec spec = model.kv_spec();
  spec.dtype = quire::DType::kBF16;
  quire::QuantizedCache cache(spec, {.nbits = nbits});
  for (int i = 0; i < 1024; ++i) next(model, cache, 0);
  return static_cast<double>(cache.bytes()) / static_cast<double>(1024 * spec.bytes_per_token());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: kv_quality MODEL TEXT_FILE [NEW_TOKENS]\n", stderr), 2;
  const auto model = quire::Model::load(argv[1], {.dtype = quire::DType::kF32});
  std::ifstream file(argv[2]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  quire::TokenIds ids = model->tokenizer()->encode(text);
  const std::size_t given = ids.size();
  const std::size_t all = given + (argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 200);

  quire::DynamicCache exact(model->kv_spec());
  quire::QuantizedCache caches[] = {quire::QuantizedCache(model->kv_spec(), {.nbits = 8}),
                                    quire::QuantizedCache(model->kv_spec(), {.nbits = 4}),
                                    quire::QuantizedCache(model->kv_spec(), {.nbits = 2})};
  Mean everywhere[3];
  Mean continued[3];
  for (std::size_t at = 0; at < all; ++at) {
    const Distribution reference = next(*model, exact, ids[at]);
    for (int i = 0; i < 3; ++i) {
      const Distribution other = next(*model, caches[i], ids[at]);
      everywhere[i].add(reference, other);
      if (at + 1 >= given) continued[i].add(reference, other);
    }
    if (at + 1 == ids.size()) ids.push_back(static_cast<quire::TokenId>(argmax(reference)));
  }
  std::printf("%zu tokens of text, %zu continued\n", given, all - given);
  std::printf("bits  KL and top-1, everywhere  KL and top-1, continued  bytes / bf16\n");
  for (int i = 0; i < 3; ++i) {
    std::printf("%4d", caches[i].options().nbits);
    everywhere[i].print();
    continued[i].print();
    std::printf("     %.3f\n", share_of_bf16(*model, caches[i].options().nbits));
  }
  return 0;
}
