// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

#include <fstream>
#include <string>

#include "tests/io/temporary_folder.h"

namespace quire::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr NamedTarget kTargets[] = {
    {"gguf", gguf},
    {"safetensors", safetensors},
    {"index", shard_index},
    {"config", config},
    {"tokenizer_json", tokenizer_json},
    {"sentencepiece", sentencepiece},
    {"template", chat_template},
    {"snapshot", snapshot},
    {"text", text},
};

}  // namespace

std::span<const NamedTarget> targets() { return kTargets; }

const fs::path& scratch_folder() {
  static const test::TemporaryFolder folder;
  return folder.path();
}

fs::path write_scratch(std::string_view name, std::string_view bytes) {
  const fs::path path = scratch_folder() / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace quire::fuzz
