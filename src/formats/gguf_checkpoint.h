// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "formats/gguf.h"

namespace quire {

// A GGUF file that holds a whole model. Errors beyond GgufFile's: kCorrupt without
// general.architecture, kUnsupported for one part of several.
//
// Thread-safety: immutable after construction.
class GgufCheckpoint final : public Checkpoint {
 public:
  explicit GgufCheckpoint(const std::filesystem::path& path);

  Format format() const override { return Format::kGguf; }
  const std::filesystem::path& path() const override { return file_.path(); }
  std::span<const TensorInfo> tensors() const override { return file_.tensors().tensors(); }
  const TensorInfo* find(std::string_view name) const override {
    return file_.tensors().find(name, file_.path().native());
  }
  std::string_view config_json() const override { return config_; }

 private:
  GgufFile file_;
  std::string config_;
};

}  // namespace quire
