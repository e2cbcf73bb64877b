// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: the inverse frequencies of each scaling, and the cosines and sines of
// positions. Formulas, order and float32 arithmetic are those of transformers' modeling_rope_utils.
//
// "dynamic" and "longrope" depend on a length: all tokens of one pass are rotated for the length
// that the pass is run for, and keys already in a cache stay as they were rotated. The length is
// that of the sequence after the pass, or a longer one that the caller knows to come (a prompt read
// in chunks), so that chunks give what the whole prompt gives.
//
// Thread-safety: immutable after construction.
#pragma once

#include <quire/model_config.h>

#include <cstdint>
#include <vector>

namespace quire {

class Rope {
 public:
  explicit Rope(const RopeConfig& config);

  std::int64_t dims() const { return config_.dims; }

  // Writes dims() / 2 cosines and sines for each position in [first, first + count), rotated for a
  // sequence of `length` tokens.
  void fill(std::int64_t first, std::int64_t count, std::int64_t length, float* cos,
            float* sin) const;

 private:
  std::vector<float> dynamic_frequencies(std::int64_t length) const;

  RopeConfig config_;
  float attention_factor_ = 1;      // of cosines and sines
  std::vector<float> frequencies_;  // of short sequences, where that matters
  std::vector<float> long_frequencies_;
};

}  // namespace quire
