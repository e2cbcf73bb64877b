// SPDX-License-Identifier: Apache-2.0
#include "api_keys.h"

#include <quire/error.h>

#include <fstream>
#include <sstream>

namespace server {
namespace {

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned differ = a.size() != b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ |= static_cast<unsigned char>(a[i] ^ (b.empty() ? 0 : b[i % b.size()]));
  }
  return differ == 0;
}

}  // namespace

ApiKeys ApiKeys::load(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw quire::Error(quire::ErrorCode::kIo, path.string(), "cannot be read");
  ApiKeys keys;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string key, name_space, more;
    words >> key >> name_space >> more;
    if (key.empty() || key.front() == '#') continue;
    if (name_space.empty() || !more.empty()) {
      throw quire::Error(quire::ErrorCode::kInvalidArgument,
                         path.string() + ", line " + std::to_string(number),
                         "expected a key and a namespace, found " +
                             std::string(more.empty() ? "one word" : "more than two words"));
    }
    keys.keys_.emplace_back(std::move(key), std::move(name_space));
  }
  if (keys.keys_.empty()) {
    throw quire::Error(quire::ErrorCode::kInvalidArgument, path.string(),
                       "expected at least one line \"key namespace\", found none");
  }
  return keys;
}

std::optional<std::string> ApiKeys::name_space(std::string_view key) const {
  if (keys_.empty()) return std::string();
  const std::string* found = nullptr;
  for (const auto& [known, name_space] : keys_) {
    if (equal_in_constant_time(key, known)) found = &name_space;
  }
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace server
