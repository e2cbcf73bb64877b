// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "json.h"

namespace cli {

// Throws quire::Error kIo.
std::string read_file(const std::string& path);

// The same of a plain or a gzip file. Throws quire::Error: kIo, kCorrupt (broken gzip).
std::string read_text(const std::string& path);

// The value of an option that is JSON. Throws quire::Error kInvalidArgument.
Json parse_option(const std::string& option, const std::string& text);

}  // namespace cli
