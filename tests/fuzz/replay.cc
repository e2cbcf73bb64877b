// SPDX-License-Identifier: Apache-2.0
// quire_fuzz_replay (or quire_fuzz_server_replay) TARGET (FILE|FOLDER)...: runs inputs through a
// target, folders with all that is in them. Ends with an error if there was none, or if one whose
// name begins with "bad-" was not refused.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_at(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  if (!(bytes << in.rdbuf()) && fs::file_size(file) > 0) throw std::runtime_error("not readable");
  return bytes.str();
}

}  // namespace

int main(int argc, char** argv) {
  const auto target = argc > 2 ? quire::fuzz::find_target(argv[1]) : nullptr;
  if (target == nullptr) {
    std::cerr << "usage: " << argv[0] << " TARGET (FILE|FOLDER)..., TARGET one of";
    for (const auto& known : quire::fuzz::targets()) std::cerr << ' ' << known.name;
    std::cerr << '\n';
    return 2;
  }
  int inputs = 0;
  int bad = 0;
  for (int i = 2; i < argc; ++i) {
    for (const fs::path& file : files_at(argv[i])) {
      try {
        const bool refused = target(bytes_of(file));
        ++inputs;
        if (!file.filename().native().starts_with("bad-")) continue;
        ++bad;
        if (!refused) throw std::runtime_error("expected a refusal");
      } catch (const std::exception& error) {
        std::cerr << file.string() << ": " << error.what() << '\n';
        return 1;
      }
    }
  }
  std::cout << argv[1] << ": " << inputs << " inputs, " << bad << " bad ones refused\n";
  return inputs == 0 ? 1 : 0;
}
