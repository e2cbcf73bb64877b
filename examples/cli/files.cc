// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <zlib.h>

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

std::string read_text(const std::string& path) {
  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  const std::unique_ptr<gzFile_s, Close> file(gzopen(path.c_str(), "rb"));
  if (!file) throw quire::Error(quire::ErrorCode::kIo, path, "cannot be opened");
  std::string text;
  std::string buffer(1 << 16, '\0');
  while (true) {
    const int n = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (n < 0) throw quire::Error(quire::ErrorCode::kCorrupt, path, "expected whole gzip data");
    if (n == 0) return text;
    text.append(buffer, 0, static_cast<std::size_t>(n));
  }
}

Json parse_option(const std::string& option, const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    throw Error(ErrorCode::kInvalidArgument, option, "expected JSON, found " + text);
  }
  return value;
}

}  // namespace cli
