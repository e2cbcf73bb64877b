// SPDX-License-Identifier: Apache-2.0
#include "model/encoder_layout.h"

#include <quire/error.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/json.h"
#include "io/quote.h"

namespace quire {

namespace {

constexpr std::int64_t kMaxTokens = 1 << 30;

struct PoolingName {
  Pooling pooling;
  std::string_view flag;  // a member that is true, in older files
  std::string_view name;  // the value of "pooling_mode", in newer ones; empty: has none
};

constexpr std::array<PoolingName, 6> kPoolings = {{
    {Pooling::kCls, "pooling_mode_cls_token", "cls"},
    {Pooling::kMax, "pooling_mode_max_tokens", "max"},
    {Pooling::kMean, "pooling_mode_mean_tokens", "mean"},
    {Pooling::kMeanSqrtLen, "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
    {Pooling::kWeightedMean, "pooling_mode_weightedmean_tokens", "weightedmean"},
    {Pooling::kLastToken, "pooling_mode_lasttoken", "lasttoken"},
}};

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// One step of modules.json.
struct Module {
  std::string kind;  // the class's name
  std::filesystem::path folder;
};

// Classes of the library itself: another's may compute anything.
std::string kind_of(const JsonObject& entry) {
  const std::string& type = entry.string("type");
  const std::string kind = type.substr(type.rfind('.') + 1);
  const bool known = type.starts_with("sentence_transformers.") &&
                     (kind == "Transformer" || kind == "Pooling" || kind == "Normalize");
  if (!known) {
    throw Error(ErrorCode::kUnsupported, entry.subject(),
                "type: expected a Transformer, Pooling or Normalize of sentence_transformers, "
                "found " +
                    quote(type));
  }
  return kind;
}

// A module's folder lies below the model's.
std::filesystem::path folder_of(const JsonObject& entry, const std::filesystem::path& root) {
  const std::string name = entry.string_or("path", "");
  const std::filesystem::path path(name);
  const bool inside = name.find('\0') == std::string::npos && path.is_relative() &&
                      std::ranges::none_of(path, [](const auto& part) { return part == ".."; });
  if (!inside) entry.fail("path", "expected a folder inside the model's, found " + quote(name));
  return name.empty() ? root : root / path;
}

std::vector<Module> read_modules(const std::filesystem::path& root) {
  const std::filesystem::path file = root / "modules.json";
  const Json json = read_json_file(file);
  if (!json.is_array()) {
    throw Error(ErrorCode::kCorrupt, file.native(),
                std::string("expected an array of modules, found ") + json.type_name());
  }
  std::vector<Module> modules;
  for (const Json& item : json) {
    std::string place = "[";
    place.append(std::to_string(modules.size())).append("].");
    const JsonObject entry(item, file.native(), std::move(place));
    modules.push_back({kind_of(entry), folder_of(entry, root)});
  }
  const auto is = [&](std::size_t i, std::string_view kind) { return modules[i].kind == kind; };
  const bool in_order = (modules.size() == 2 || (modules.size() == 3 && is(2, "Normalize"))) &&
                        is(0, "Transformer") && is(1, "Pooling");
  if (!in_order) {
    std::string found;
    for (const Module& module : modules) found += (found.empty() ? "" : ", ") + module.kind;
    throw Error(ErrorCode::kUnsupported, file.native(),
                "expected the modules Transformer, Pooling and perhaps Normalize, found " +
                    (found.empty() ? "none" : found));
  }
  return modules;
}

Pooling pooling_named(const JsonObject& object, const Json& value) {
  const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  const auto* found = std::ranges::find(kPoolings, name, &PoolingName::name);
  if (found == kPoolings.end()) {
    throw Error(ErrorCode::kUnsupported, object.subject(),
                "pooling_mode: expected cls, max, mean, mean_sqrt_len_tokens, weightedmean or "
                "lasttoken, found " +
                    quote(name));
  }
  return found->pooling;
}

std::vector<Pooling> read_poolings(const JsonObject& object) {
  std::vector<Pooling> poolings;
  if (const Json* mode = object.find("pooling_mode")) {
    for (const Json& name : mode->is_array() ? *mode : Json::array({*mode})) {
      poolings.push_back(pooling_named(object, name));
    }
    std::ranges::sort(poolings);
    poolings.erase(std::ranges::unique(poolings).begin(), poolings.end());
  } else {
    for (const PoolingName& pooling : kPoolings) {
      const bool fallback = pooling.pooling == Pooling::kMean;
      if (object.boolean_or(pooling.flag, fallback)) poolings.push_back(pooling.pooling);
    }
  }
  if (poolings.empty()) object.fail("pooling_mode", "expected at least one, found none");
  return poolings;
}

void read_pooling(const std::filesystem::path& folder, SentenceLayout& layout) {
  const std::filesystem::path file = folder / "config.json";
  const Json json = read_json_file(file);
  const JsonObject object(json, file.native());
  layout.pooling = read_poolings(object);
  if (!layout.prompt.empty() && !object.boolean_or("include_prompt", true)) {
    throw Error(ErrorCode::kUnsupported, file.native(),
                "include_prompt: expected true where a default prompt is set, found false");
  }
}

// What the tokenizer allows, where the layout says nothing. Many say "1e30", for no limit.
std::int64_t tokenizer_limit(const JsonObject& object) {
  const double most = object.number_or("model_max_length", 0);
  return most >= 1 && most <= static_cast<double>(kMaxTokens) ? static_cast<std::int64_t>(most) : 0;
}

void read_lengths(SentenceLayout& layout) {
  const std::filesystem::path tokenizer = layout.encoder / "tokenizer_config.json";
  if (is_there(tokenizer)) {
    const Json json = read_json_file(tokenizer);
    const JsonObject object(json, tokenizer.native());
    layout.max_tokens = tokenizer_limit(object);
    const std::string side = object.string_or("truncation_side", "right");
    if (side != "right") {
      throw Error(ErrorCode::kUnsupported, tokenizer.native(),
                  "truncation_side: expected \"right\", found " + quote(side));
    }
  }
  // Named for the kind of encoder in files of the first versions.
  for (const char* kind : {"bert", "roberta", "distilbert", "camembert", "xlm-roberta"}) {
    const std::filesystem::path file =
        layout.encoder / ("sentence_" + std::string(kind) + "_config.json");
    if (!is_there(file)) continue;
    const Json json = read_json_file(file);
    const JsonObject object(json, file.native());
    layout.lower_case = object.boolean_or("do_lower_case", false);
    if (!object.has("max_seq_length")) return;
    layout.max_tokens = object.integer("max_seq_length");
    if (layout.max_tokens < 1 || layout.max_tokens > kMaxTokens) {
      object.fail("max_seq_length", "expected 1 to " + std::to_string(kMaxTokens) + ", found " +
                                        std::to_string(layout.max_tokens));
    }
    return;
  }
}

std::string default_prompt(const std::filesystem::path& root) {
  const std::filesystem::path file = root / "config_sentence_transformers.json";
  if (!is_there(file)) return {};
  const Json json = read_json_file(file);
  const JsonObject object(json, file.native());
  if (!object.has("default_prompt_name")) return {};
  return object.object("prompts").string(object.string("default_prompt_name"));
}

}  // namespace

bool is_sentence_encoder(const std::filesystem::path& path) {
  return is_there(path / "modules.json");
}

SentenceLayout read_sentence_layout(const std::filesystem::path& path) {
  const std::vector<Module> modules = read_modules(path);
  SentenceLayout layout;
  layout.encoder = modules[0].folder;
  layout.normalize = modules.size() == 3;
  layout.prompt = default_prompt(path);
  read_pooling(modules[1].folder, layout);
  read_lengths(layout);
  return layout;
}

}  // namespace quire
