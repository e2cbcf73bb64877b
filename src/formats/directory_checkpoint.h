// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors.h"
#include "formats/tensor_table.h"
#include "io/json.h"

namespace quire {

// A Hugging Face model directory: config.json with either model.safetensors, which is taken first,
// or model.safetensors.index.json, whose weight_map says which shard holds which tensor.
//
// Shards must be there, inside the directory (links may lead elsewhere, as in Hugging Face's
// cache), and hold what the index says. A tensor in a shard that the index does not list is offered
// too; one that the index lists for another shard is not.
//
// Thread-safety: immutable after construction.
class DirectoryCheckpoint final : public Checkpoint {
 public:
  explicit DirectoryCheckpoint(const std::filesystem::path& path);

  Format format() const override { return Format::kSafetensors; }
  const std::filesystem::path& path() const override { return path_; }
  std::span<const TensorInfo> tensors() const override { return tensors_.tensors(); }
  const TensorInfo* find(std::string_view name) const override {
    return tensors_.find(name, path_.native());
  }
  std::string_view config_json() const override { return config_; }

 private:
  void open_shards(const std::filesystem::path& index_path);
  void add(SafetensorsFile::Tensor tensor);

  std::filesystem::path path_;
  std::string config_;
  std::vector<SafetensorsFile> files_;
  TensorTable tensors_;
};

}  // namespace quire
