// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets.h"

#include <unistd.h>

#include <fstream>
#include <string>

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

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("quire_fuzz_" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path path;
};

}  // namespace

std::span<const NamedTarget> targets() { return kTargets; }

Target find_target(std::string_view name) {
  for (const NamedTarget& target : kTargets) {
    if (target.name == name) return target.run;
  }
  return nullptr;
}

const fs::path& scratch_folder() {
  static const Folder folder;
  return folder.path;
}

fs::path write_scratch(std::string_view name, std::string_view bytes) {
  const fs::path path = scratch_folder() / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace quire::fuzz
