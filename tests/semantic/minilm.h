// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace quire::testing {

inline std::filesystem::path minilm_path() {
  const char* home = std::getenv("QUIRE_HOME");
  const char* user = std::getenv("HOME");
  const std::filesystem::path root =
      home != nullptr ? std::filesystem::path(home)
                      : std::filesystem::path(user != nullptr ? user : "") / ".cache" / "quire";
  const std::filesystem::path path = root / "models" / "minilm";
  if (!std::filesystem::exists(path / "model.safetensors")) {
    throw std::runtime_error(path.native() + " is missing: run `quire pull minilm`");
  }
  return path;
}

}  // namespace quire::testing
