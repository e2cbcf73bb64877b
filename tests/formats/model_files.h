// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <quire/error.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/gguf.h"

namespace quire {

// The code and message of the error that `action` must throw, or "no error".
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ' ' + error.what();
  }
  return "no error";
}

// A folder for one test's files, gone when it ends.
class TestFolder {
 public:
  TestFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("quire_") + test->test_suite_name() + '_' + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  std::filesystem::path path_;
};

template <typename T>
std::string bytes_of(T value) {
  static_assert(std::is_arithmetic_v<T>);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string gguf_string(std::string_view text) {
  return bytes_of<std::uint64_t>(text.size()) + std::string(text);
}

// A GGUF file in pieces.
struct GgufBuilder {
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;  // of the layout; general.alignment is an entry like others
  std::vector<std::string> entries;
  std::vector<std::string> infos;
  std::string data;

  void entry(std::string_view key, GgufType type, const std::string& value) {
    entries.push_back(gguf_string(key) + bytes_of(static_cast<std::uint32_t>(type)) + value);
  }
  void text(std::string_view key, std::string_view value) {
    entry(key, GgufType::kString, gguf_string(value));
  }
  void array(std::string_view key, GgufType element, std::uint64_t count,
             const std::string& values) {
    entry(key, GgufType::kArray,
          bytes_of(static_cast<std::uint32_t>(element)) + bytes_of(count) + values);
  }
  // `sizes` innermost first, as in the file; `type` as ggml numbers it.
  void tensor(std::string_view name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
              const std::string& bytes) {
    std::string info = gguf_string(name) + bytes_of(static_cast<std::uint32_t>(sizes.size()));
    for (const std::uint64_t size : sizes) info += bytes_of(size);
    infos.push_back(info + bytes_of(type) + bytes_of<std::uint64_t>(data.size()));
    data += bytes;
    data.resize((data.size() + alignment - 1) / alignment * alignment, '\0');
  }

  std::string build() const {
    std::string out = "GGUF" + bytes_of(version) + bytes_of<std::uint64_t>(infos.size()) +
                      bytes_of<std::uint64_t>(entries.size());
    for (const std::string& entry : entries) out += entry;
    for (const std::string& info : infos) out += info;
    out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
    return out + data;
  }
};

// A safetensors file of this header and data.
inline std::string safetensors(std::string_view header, std::string_view data) {
  return bytes_of<std::uint64_t>(header.size()) + std::string(header) + std::string(data);
}

}  // namespace quire
