// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace server {

// Who may call, and whose caches their requests share.
//
// Thread-safety: immutable after load.
class ApiKeys {
 public:
  ApiKeys() = default;  // anybody may, in one namespace

  // A file of lines `key namespace`; empty lines and those that begin with # do not count. Several
  // keys may have one namespace. Throws quire::Error kIo, and kInvalidArgument naming the line.
  static ApiKeys load(const std::filesystem::path& path);

  // Nothing for a key that is not known. The time it takes says nothing about the keys.
  std::optional<std::string> name_space(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, std::string>> keys_;  // key, namespace; empty: anybody
};

}  // namespace server
