// SPDX-License-Identifier: Apache-2.0
// What the readers of config.json and of GGUF metadata share: checked numbers, and the checks of
// sizes against each other. Messages name the key as the file spells it.
//
// Errors: kCorrupt for a value that cannot be, kUnsupported for one that nothing here can handle.
// Thread-safety: functions of their arguments.
#pragma once

#include <quire/checkpoint.h>
#include <quire/model_config.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "io/json.h"
#include "model/families.h"

namespace quire {

// More layers than any model has; what is allocated per layer stays small whatever a file claims.
constexpr std::int64_t kMaxLayers = 10000;
constexpr std::int64_t kMaxVocab = std::numeric_limits<TokenId>::max();
constexpr std::int64_t kMaxWidth = 1 << 24;  // of a hidden state, an MLP, a head

// An integer in [1, most]; a number above zero.
std::int64_t positive(const JsonObject& object, std::string_view key, std::int64_t most);
std::int64_t positive_or(const JsonObject& object, std::string_view key, std::int64_t most,
                         std::int64_t fallback);
double positive_number(const JsonObject& object, std::string_view key);
double positive_number_or(const JsonObject& object, std::string_view key, double fallback);

[[noreturn]] void unsupported(const JsonObject& object, std::string_view key,
                              std::string_view problem);

// The head counts of a config against each other, and the rotated dimensions against the head.
struct HeadKeys {
  std::string_view heads;
  std::string_view kv_heads;
  std::string_view head_dim;
};
void check_heads(const JsonObject& object, const HeadKeys& keys, const ModelConfig& config);

// Sets windows of `window` tokens by the family's rule: late_from is its first layer for kLate.
void set_windows(const Family& family, std::int64_t window, std::int64_t late_from,
                 ModelConfig& config);

// The rope of a config.json in either style: rope_parameters, or rope_theta with rope_scaling.
// Needs context, head_dim; fills rope and rope_sliding.
void parse_hf_rope(const JsonObject& object, const Family& family, ModelConfig& config);

ModelConfig parse_hf_config(const Checkpoint& checkpoint);
ModelConfig parse_gguf_config(const Checkpoint& checkpoint);

}  // namespace quire
