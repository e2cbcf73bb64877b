// SPDX-License-Identifier: Apache-2.0
// An input is a list of edits of a saved snapshot: an offset (4 bytes, little-endian, taken modulo
// the file's size) and a byte that is added there. A last edit that is cut short cuts the file at
// its offset. Whatever is changed must be noticed.
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/quantized_cache.h>
#include <quire/snapshot.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "io/read_file.h"
#include "tests/fuzz/targets.h"
#include "tests/kv/tokens.h"

namespace quire::fuzz {
namespace {

constexpr std::int64_t kTokens = 100;

struct Saved {
  PrefixModel model;
  std::string bytes;
};

Saved save(bool coded) {
  const KvSpec spec = {
      .layers = {{.kv_heads = 2, .head_dim = 16}, {.kv_heads = 2, .head_dim = 16}}};
  std::unique_ptr<KvCache> cache;
  if (coded) {
    cache = std::make_unique<QuantizedCache>(spec, QuantizedCacheOptions{.residual_length = 32});
  } else {
    cache = std::make_unique<DynamicCache>(spec);
  }
  testing::History tokens;
  for (std::uint64_t i = 0; i < kTokens; ++i) tokens.push_back(i);
  testing::append(*cache, spec, tokens);
  PrefixModel model = {.fingerprint = "weights", .kv = spec, .tokenizer = "words"};
  const Snapshot snapshot({.model = model,
                           .text = "some text",
                           .ids = TokenIds(tokens.begin(), tokens.end()),
                           .logits = {1, 2, 3},
                           .cache = std::move(cache),
                           .note = "a note"});
  const auto path = scratch_folder() / "saved.quire";
  snapshot.save(path);
  return {std::move(model), read_file(path)};
}

std::string edited(std::string bytes, std::string_view edits) {
  while (!edits.empty()) {
    std::uint32_t offset = 0;
    const std::size_t given = std::min<std::size_t>(edits.size(), 4);
    for (std::size_t i = 0; i < given; ++i) {
      offset |= static_cast<std::uint32_t>(static_cast<unsigned char>(edits[i])) << (8 * i);
    }
    edits.remove_prefix(given);
    if (bytes.empty()) break;
    const std::size_t at = offset % bytes.size();
    if (edits.empty()) {
      bytes.resize(at);
    } else {
      bytes[at] = static_cast<char>(bytes[at] + edits.front());
      edits.remove_prefix(1);
    }
  }
  return bytes;
}

// Whether the edited file was refused.
bool check(const Saved& saved, std::string_view edits) {
  const std::string bytes = edited(saved.bytes, edits);
  const auto path = scratch_folder() / "input.quire";
  std::filesystem::remove(path);
  write_scratch("input.quire", bytes);
  for (const Verify verify : {Verify::kAtLoad, Verify::kOnUse}) {
    bool refused = false;
    try {
      const Snapshot snapshot = Snapshot::load(path, saved.model, {.verify = verify});
      if (snapshot.fork(kTokens) == nullptr) throw std::logic_error("a snapshot lost its tokens");
    } catch (const Error&) {
      refused = true;
    }
    if (refused != (bytes != saved.bytes)) throw std::logic_error("a change went unnoticed");
  }
  return bytes != saved.bytes;
}

}  // namespace

bool snapshot(std::string_view input) {
  static const Saved plain = save(false);
  static const Saved coded = save(true);
  const bool refused = check(plain, input);
  return check(coded, input) && refused;
}

}  // namespace quire::fuzz
