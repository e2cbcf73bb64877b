// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cli {

struct ChildOutcome {
  int status = 0;         // as a shell would see it
  std::string last_line;  // of what it printed, when that was not shown
};

// Runs a program found on PATH and waits for it. Its whole output goes to stderr if `show`, else
// nowhere. `variables` ("NAME=value") come on top of the environment.
// Throws quire::Error kNotFound if there is no such program, kIo if it cannot be started.
ChildOutcome run_child(const std::vector<std::string>& command,
                       const std::vector<std::string>& variables, bool show);

// What a program found on PATH prints to stdout, while its stderr goes nowhere. Nothing if there is
// no such program, or it fails.
std::optional<std::string> output_of(const std::vector<std::string>& command);

}  // namespace cli
