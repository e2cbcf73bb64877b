// SPDX-License-Identifier: Apache-2.0
// kv_kinds MODEL PROMPT: one request on every kind of KV cache, and the bytes that each holds.
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto model = quire::Model::load(argv[1], {.dtype = quire::DType::kF32});
  quire::Generator generator(model);
  const quire::KvSpec& spec = model->kv_spec();

  quire::Request request = {.prompt = argv[2], .max_new_tokens = 32, .ignore_eos = true};
  const std::int64_t length = std::ssize(generator.tokenize(request)) + request.max_new_tokens;
  const quire::TokenIds expected = generator.generate(request).ids;

  bool exact = true;
  const auto show = [&](const char* name, quire::KvCache&& cache, bool must_be_the_same) {
    request.cache = &cache;
    const bool same = generator.generate(request).ids == expected;
    exact = exact && (same || !must_be_the_same);
    std::cout << name << ": " << cache.bytes() << " bytes for " << cache.length() << " tokens, "
              << (same ? "the same answer\n" : "another answer\n");
  };
  show("dynamic", quire::DynamicCache(spec), true);
  show("static", quire::StaticCache(spec, {.max_length = length}), true);
  show("sliding, the whole text", quire::SlidingCache(spec, {.window = length}), true);
  show("sliding, half of it", quire::SlidingCache(spec, {.window = length / 2}), false);
  show("quantised to 8 bits", quire::QuantizedCache(spec, {.nbits = 8}), false);
  show("quantised to 4 bits", quire::QuantizedCache(spec, {.nbits = 4}), false);
  show("quantised to 2 bits", quire::QuantizedCache(spec, {.nbits = 2}), false);
  return exact ? 0 : 1;
}
