// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <fstream>
#include <iterator>

namespace cli {

using quire::Error;
using quire::ErrorCode;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file || file.bad()) throw Error(ErrorCode::kIo, path, "cannot be read");
  return text;
}

Json parse_option(const std::string& option, const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    throw Error(ErrorCode::kInvalidArgument, option, "expected JSON, found " + text);
  }
  return value;
}

}  // namespace cli
