// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace quire {

// How the next token is chosen. Formulas and their order are Hugging Face's: repetition penalty,
// temperature, top-k, top-p, min-p, then a draw. The default is greedy.
struct Sampling {
  float temperature = 0;         // 0: greedy; the other filters then do nothing
  std::int64_t top_k = 0;        // keep the k most likely; 0: all
  float top_p = 1;               // keep the smallest set with at least this probability; 1: all
  float min_p = 0;               // drop what is below min_p times the most likely; 0: none
  float repetition_penalty = 1;  // > 1 makes tokens of the prompt and answer less likely
  std::uint64_t seed = 0;        // equal seeds give equal draws
};

}  // namespace quire
