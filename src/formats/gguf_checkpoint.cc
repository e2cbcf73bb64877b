// SPDX-License-Identifier: Apache-2.0
#include "formats/gguf_checkpoint.h"

#include <quire/error.h>

#include <cmath>

#include "formats/gguf_parser.h"
#include "io/json.h"

namespace quire {

namespace {

constexpr std::uint64_t kLongestArray = 4096;

// Numbers that JSON lacks become strings, as in config_json() of a directory.
Json json_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

Json json_of_scalar(GgufType type, const std::byte* at) {
  if (type == GgufType::kFloat32) return json_of(double{load<float>(at)});
  if (type == GgufType::kFloat64) return json_of(load<double>(at));
  if (type == GgufType::kUint64) return load<std::uint64_t>(at);
  if (type == GgufType::kBool) return load<std::uint8_t>(at) != 0;
  std::int64_t integer = 0;
  decode_integer(type, at, integer);
  return integer;
}

Json json_of(const GgufFile& file, const GgufEntry& entry) {
  const GgufValue& value = entry.value;
  if (value.type == GgufType::kString) return std::string(file.string(entry.key));
  if (value.type != GgufType::kArray) return json_of_scalar(value.type, value.data.data());
  Json out = Json::array();
  if (value.element == GgufType::kString) {
    for (const std::string_view text : file.strings(entry.key)) out.emplace_back(text);
    return out;
  }
  const std::size_t size = scalar_bytes(value.element);
  for (std::size_t at = 0; at < value.data.size(); at += size) {
    out.push_back(json_of_scalar(value.element, value.data.data() + at));
  }
  return out;
}

// Nested arrays count as long: no configuration has them.
bool is_long(const GgufEntry& entry) {
  return entry.value.type == GgufType::kArray &&
         (entry.value.count > kLongestArray || entry.value.element == GgufType::kArray ||
          entry.key.starts_with("tokenizer.ggml."));
}

std::string metadata_json(const GgufFile& file) {
  Json out = Json::object();
  for (const GgufEntry& entry : file.entries()) {
    if (is_long(entry)) {
      out[std::string(entry.key) + ".length"] = entry.value.count;
    } else {
      out[std::string(entry.key)] = json_of(file, entry);
    }
  }
  return out.dump();
}

}  // namespace

GgufCheckpoint::GgufCheckpoint(const std::filesystem::path& path) : file_(path) {
  file_.string("general.architecture");
  const std::int64_t parts = file_.integer_or("split.count", 1);
  if (parts > 1) {
    throw Error(ErrorCode::kUnsupported, path.native(),
                "split.count: the file is one part of " + std::to_string(parts) +
                    "; merge the parts into one file");
  }
  config_ = metadata_json(file_);
}

}  // namespace quire
