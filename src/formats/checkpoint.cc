// SPDX-License-Identifier: Apache-2.0
#include <quire/checkpoint.h>
#include <quire/error.h>

#include <new>
#include <stdexcept>
#include <system_error>

#include "formats/directory_checkpoint.h"
#include "formats/gguf_checkpoint.h"

namespace quire {

namespace {

std::shared_ptr<const Checkpoint> open_any(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return std::make_shared<DirectoryCheckpoint>(path);
  }
  if (path.extension() == ".gguf" || GgufFile::has_magic(path)) {
    return std::make_shared<GgufCheckpoint>(path);
  }
  throw Error(ErrorCode::kUnsupported, path.native(),
              "expected a model directory or a GGUF file; found another kind of file");
}

}  // namespace

Checkpoint::~Checkpoint() = default;

std::shared_ptr<const Checkpoint> Checkpoint::open(const std::filesystem::path& path) {
  try {
    return open_any(path);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, path.native(), "no memory for its description");
  }
}

}  // namespace quire
