// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace quire {

// How the next token is chosen. Formulas and their order are Hugging Face's: repetition penalty,
// temperature, top-k, top-p, min-p, then a draw. The default is greedy.
//
// Equal seeds give equal draws on every machine, for equal logits.
struct Sampling {
  double temperature = 0;         // 0: the likeliest token, lowest id first; no filters, no draw
  std::int64_t top_k = 0;         // keep the k likeliest and their equals; 0: all
  double top_p = 1;               // keep the smallest set with at least this probability; 1: all
  double min_p = 0;               // drop what is below min_p times the likeliest; 0: none
  double repetition_penalty = 1;  // > 1: tokens already in prompt or answer less likely; greedy too
  std::uint64_t seed = 0;

  bool operator==(const Sampling&) const = default;
};

}  // namespace quire
