// SPDX-License-Identifier: Apache-2.0
#include "formats/directory_checkpoint.h"

#include <quire/error.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "io/quote.h"
#include "io/read_file.h"

namespace quire {

namespace {

constexpr std::uint64_t kLongestConfig = 16u << 20;
constexpr std::uint64_t kLongestIndex = 64u << 20;

// The names of a shard's tensors, by shard.
using Shards = std::map<std::string, std::set<std::string>>;

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string read_config(const std::filesystem::path& path) {
  std::string text = quote_non_finite(read_file(path, kLongestConfig));
  const JsonObject check(parse_json(text, path.native()), path.native());
  return text;
}

// A shard is a file below the directory, named by its relative path.
void check_shard_name(const JsonObject& weight_map, const std::string& tensor,
                      const std::string& name) {
  const std::filesystem::path path(name);
  const bool inside = !name.empty() && name.find('\0') == std::string::npos && path.is_relative() &&
                      std::ranges::none_of(path, [](const std::filesystem::path& part) {
                        return part == ".." || part == "." || part.empty();
                      });
  if (!inside) {
    weight_map.fail(label(tensor), "expected a file inside the directory, found " + quote(name));
  }
}

Shards read_index(const std::filesystem::path& path) {
  const Json json = parse_json(read_file(path, kLongestIndex), path.native());
  const JsonObject weight_map = JsonObject(json, path.native()).object("weight_map");
  Shards shards;
  for (const auto& [tensor, shard] : weight_map.json().items()) {
    if (!shard.is_string()) {
      weight_map.fail(label(tensor),
                      std::string("expected a shard's name, found ") + shard.type_name());
    }
    const auto& name = shard.get_ref<const std::string&>();
    check_shard_name(weight_map, tensor, name);
    shards[name].insert(tensor);
  }
  if (shards.empty()) {
    throw Error(ErrorCode::kCorrupt, path.native(),
                "weight_map: is empty, so there are no weights");
  }
  return shards;
}

}  // namespace

DirectoryCheckpoint::DirectoryCheckpoint(const std::filesystem::path& path)
    : path_(path), config_(read_config(path / "config.json")) {
  const std::filesystem::path single = path / "model.safetensors";
  const std::filesystem::path index = path / "model.safetensors.index.json";
  if (is_there(single)) {
    for (SafetensorsFile::Tensor& tensor : files_.emplace_back(single).take_tensors()) {
      add(std::move(tensor));
    }
  } else if (is_there(index)) {
    open_shards(index);
  } else {
    throw Error(ErrorCode::kNotFound, path.native(),
                "expected model.safetensors or model.safetensors.index.json, found neither");
  }
  tensors_.finish(path.native());
}

void DirectoryCheckpoint::add(SafetensorsFile::Tensor tensor) {
  if (tensor.type) {
    tensors_.add({std::move(tensor.name), *tensor.type, std::move(tensor.shape), tensor.data});
  } else {
    tensors_.add_other(std::move(tensor.name), tensor.dtype);
  }
}

void DirectoryCheckpoint::open_shards(const std::filesystem::path& index_path) {
  Shards shards = read_index(index_path);
  std::set<std::string> all;
  for (const auto& [shard, names] : shards) all.insert(names.begin(), names.end());
  for (auto& [shard, missing] : shards) {
    for (SafetensorsFile::Tensor& tensor : files_.emplace_back(path_ / shard).take_tensors()) {
      if (missing.erase(tensor.name) != 0 || !all.contains(tensor.name)) add(std::move(tensor));
    }
    if (!missing.empty()) {
      throw Error(ErrorCode::kCorrupt, index_path.native(),
                  "weight_map: tensor " + quote(*missing.begin()) + " is not in " + quote(shard));
    }
  }
}

}  // namespace quire
