// SPDX-License-Identifier: Apache-2.0
// block_hashes MODEL FIRST SECOND: how the prefix cache knows the beginning of a text again. Every
// block of tokens has a hash that covers all before it; equal hashes are pages that can be reused.
#include <quire/quire.h>

#include <iomanip>
#include <iostream>

constexpr std::int64_t kBlock = 16;

std::vector<quire::BlockKey> hashes(std::span<const quire::TokenId> ids) {
  std::vector<quire::BlockKey> keys;
  const quire::BlockKey space;  // a digest of model and namespace; here all is in one
  quire::BlockKey parent = space;
  for (; std::ssize(ids) >= kBlock; ids = ids.subspan(kBlock)) {
    parent = quire::block_key(parent, space, ids.first(kBlock));
    keys.push_back(parent);
  }
  return keys;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  quire::PrefixCache prefixes({.block_size = kBlock});
  quire::Generator generator(quire::Model::load(argv[1]), {.prefix_cache = &prefixes});
  const quire::Request first = {.prompt = argv[2], .max_new_tokens = 1};
  const quire::Request second = {.prompt = argv[3], .max_new_tokens = 1};

  const auto known = hashes(generator.tokenize(first));
  const auto asked = hashes(generator.tokenize(second));
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const bool same = i < known.size() && asked[i] == known[i];
    equal += same ? 1 : 0;
    std::cout << "tokens from " << std::setw(4) << i * kBlock << "  " << std::hex
              << std::setfill('0') << std::setw(16) << asked[i].high << std::setw(16)
              << asked[i].low << std::dec << std::setfill(' ')
              << (same ? "  as before\n" : "  new\n");
  }

  generator.generate(first);
  const auto result = generator.generate(second);
  const quire::Reused& reused = result.cache.reused;
  std::cout << reused.memory << " tokens reused as whole blocks, " << reused.copied
            << " copied from the block after them, "
            << result.usage.prompt_tokens - result.usage.cached_tokens << " computed\n";
  return reused.memory == equal * kBlock ? 0 : 1;
}
