// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/error.h>
#include <quire/tokenizer.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace quire {

inline std::filesystem::path tokenizer_data() {
  return std::filesystem::path(QUIRE_TEST_DATA) / "tokenizers";
}

// A file of a model that `quire pull NAME` places.
inline std::filesystem::path pulled_model(const std::string& name, const std::string& file) {
  const char* set = std::getenv("QUIRE_HOME");
  const std::filesystem::path home =
      set != nullptr ? set : std::filesystem::path(std::getenv("HOME")) / ".cache/quire";
  return home / "models" / name / file;
}

// What `action` throws, "no error" if nothing.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The outputs of a stream of `ids`, joined; each must be whole UTF-8.
std::string streamed(const std::shared_ptr<const Tokenizer>& tokenizer, const TokenIds& ids,
                     DecodeOptions options = {});

}  // namespace quire
