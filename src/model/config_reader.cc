// SPDX-License-Identifier: Apache-2.0
#include "model/config_reader.h"

#include <quire/error.h>

#include <string>

namespace quire {

std::int64_t positive(const JsonObject& object, std::string_view key, std::int64_t most) {
  const std::int64_t value = object.integer(key);
  if (value < 1 || value > most) {
    object.fail(key, "expected 1 to " + std::to_string(most) + ", found " + std::to_string(value));
  }
  return value;
}

std::int64_t positive_or(const JsonObject& object, std::string_view key, std::int64_t most,
                         std::int64_t fallback) {
  return object.has(key) ? positive(object, key, most) : fallback;
}

double positive_number(const JsonObject& object, std::string_view key) {
  const double value = object.number(key);
  if (!(value > 0)) object.fail(key, "expected more than 0, found " + std::to_string(value));
  return value;
}

double positive_number_or(const JsonObject& object, std::string_view key, double fallback) {
  return object.has(key) ? positive_number(object, key) : fallback;
}

void unsupported(const JsonObject& object, std::string_view key, std::string_view problem) {
  throw Error(ErrorCode::kUnsupported, object.subject(),
              std::string(key) + ": " + std::string(problem));
}

void check_heads(const JsonObject& object, const HeadKeys& keys, const ModelConfig& config) {
  if (config.kv_heads > config.heads || config.heads % config.kv_heads != 0) {
    object.fail(keys.kv_heads, "expected a divisor of " + std::to_string(config.heads) +
                                   " query heads, found " + std::to_string(config.kv_heads));
  }
  if (config.head_dim % 2 != 0) {
    object.fail(keys.head_dim, "expected an even number for the rotary embedding, found " +
                                   std::to_string(config.head_dim));
  }
}

void set_windows(const Family& family, std::int64_t window, std::int64_t late_from,
                 ModelConfig& config) {
  config.windows.assign(static_cast<std::size_t>(config.layers), 0);
  if (window == 0) return;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    bool limited = false;
    switch (family.windows) {
      case Windows::kNone:
        break;
      case Windows::kEvery:
      case Windows::kSwitched:
        limited = true;
        break;
      case Windows::kLate:
        limited = i >= late_from;
        break;
      case Windows::kPeriodic:
        limited = (i + 1) % family.period != 0;
        break;
      case Windows::kWithoutRope:
        limited = !config.layer_has_rope[static_cast<std::size_t>(i)];
        break;
    }
    if (limited) config.windows[static_cast<std::size_t>(i)] = window;
  }
}

ModelConfig parse_model_config(const Checkpoint& checkpoint) {
  return checkpoint.format() == Checkpoint::Format::kGguf ? parse_gguf_config(checkpoint)
                                                          : parse_hf_config(checkpoint);
}

}  // namespace quire
