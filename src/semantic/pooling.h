// SPDX-License-Identifier: Apache-2.0
// From the states of a text's tokens to one vector, as sentence-transformers pools.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <span>

#include "model/encoder_layout.h"

namespace quire {

// `states`: [tokens][width], at least one token; out: width floats.
void pool_states(Pooling pooling, std::span<const float> states, std::span<float> out);

// Divides by the Euclidean length; a vector of zeros stays.
void scale_to_unit(std::span<float> vector);

}  // namespace quire
