// SPDX-License-Identifier: Apache-2.0
#include "model/generation_defaults.h"

#include <filesystem>
#include <limits>
#include <string>
#include <system_error>

#include "io/json.h"

namespace quire {

namespace {

constexpr std::int64_t kTopKWhenSampling = 50;

double in_range(const JsonObject& object, std::string_view key, double fallback, double low,
                double high) {
  const double value = object.number_or(key, fallback);
  if (value < low || value > high) {
    object.fail(key, "expected " + std::to_string(low) + " to " + std::to_string(high) +
                         ", found " + std::to_string(value));
  }
  return value;
}

struct SamplingKeys {
  const char* temperature;
  const char* top_k;
  const char* top_p;
  const char* min_p;
  const char* penalty;
};

constexpr SamplingKeys kHfKeys = {"temperature", "top_k", "top_p", "min_p", "repetition_penalty"};
constexpr SamplingKeys kGgufKeys = {"general.sampling.temp", "general.sampling.top_k",
                                    "general.sampling.top_p", "general.sampling.min_p",
                                    "general.sampling.penalty_repeat"};

Sampling read_sampling(const JsonObject& object, const SamplingKeys& keys, bool do_sample) {
  constexpr double kMost = std::numeric_limits<float>::max();
  Sampling sampling;
  // A penalty changes what is greedy, too.
  sampling.repetition_penalty = static_cast<float>(in_range(object, keys.penalty, 1, 1e-6, kMost));
  if (!do_sample) return sampling;
  sampling.temperature = static_cast<float>(in_range(object, keys.temperature, 1, 0, kMost));
  sampling.top_k = object.integer_or(keys.top_k, kTopKWhenSampling);
  if (sampling.top_k < 0) object.fail(keys.top_k, "expected 0 or more");
  sampling.top_p = static_cast<float>(in_range(object, keys.top_p, 1, 0, 1));
  sampling.min_p = static_cast<float>(in_range(object, keys.min_p, 0, 0, 1));
  return sampling;
}

std::vector<TokenId> read_eos(const JsonObject& object) {
  const Json* declared = object.find("eos_token_id");
  if (declared == nullptr) return {};
  std::vector<TokenId> eos;
  for (const Json& id : declared->is_array() ? *declared : Json::array({*declared})) {
    if (!id.is_number_integer() || id < 0 || id > std::numeric_limits<TokenId>::max()) {
      object.fail("eos_token_id", "expected token ids, found " + id.dump());
    }
    eos.push_back(id.get<TokenId>());
  }
  return eos;
}

void read_gguf(const Checkpoint& checkpoint, GenerationDefaults& defaults) {
  const std::string subject = checkpoint.path().native();
  const Json json = parse_json(checkpoint.config_json(), subject);
  const JsonObject object(json, subject);
  defaults.do_sample =
      object.has(kGgufKeys.temperature) && object.number(kGgufKeys.temperature) > 0;
  defaults.sampling = read_sampling(object, kGgufKeys, defaults.do_sample);
}

void read_hf(const Checkpoint& checkpoint, GenerationDefaults& defaults) {
  const std::filesystem::path file = checkpoint.path() / "generation_config.json";
  std::error_code ignored;
  const bool has_file = std::filesystem::exists(file, ignored);
  const std::string subject = (has_file ? file : checkpoint.path() / "config.json").native();
  const Json json = has_file ? read_json_file(file) : parse_json(checkpoint.config_json(), subject);
  const JsonObject object(json, subject);
  defaults.do_sample = object.boolean_or("do_sample", false);
  defaults.sampling = read_sampling(object, kHfKeys, defaults.do_sample);
  if (has_file) defaults.eos = read_eos(object);
}

}  // namespace

GenerationDefaults read_generation_defaults(const Checkpoint& checkpoint, const ModelConfig& config,
                                            const Tokenizer* tokenizer) {
  GenerationDefaults defaults;
  if (checkpoint.format() == Checkpoint::Format::kGguf) {
    read_gguf(checkpoint, defaults);
  } else {
    read_hf(checkpoint, defaults);
  }
  if (defaults.eos.empty()) defaults.eos = config.eos;
  if (defaults.eos.empty() && tokenizer != nullptr) defaults.eos = tokenizer->eos();
  return defaults;
}

}  // namespace quire
