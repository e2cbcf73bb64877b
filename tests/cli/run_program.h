// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"

namespace quire::test {

struct ProgramOutcome {
  int status = 0;  // as a shell sees it: 128 + the signal that ended it
  std::string out;
  std::string err;
};

// Runs the quire program; `variables` ("NAME=value") come on top of the environment.
ProgramOutcome run_program(const std::vector<std::string>& arguments, const std::string& input = {},
                           const std::vector<std::string>& variables = {});

// The same with a terminal for its stderr; none where the machine makes no terminals (a container
// without /dev/pts).
std::optional<ProgramOutcome> run_in_terminal(const std::vector<std::string>& arguments);

// Its --jsonl mode: one result a line.
std::vector<nlohmann::json> run_lines(std::vector<std::string> arguments,
                                      const std::vector<nlohmann::json>& lines);

// Writes a file, folders included.
void write_file(const std::filesystem::path& path, const std::string& text);
std::string read_file(const std::filesystem::path& path);

// The reference outputs of the packaged SmolLM2.
const nlohmann::json& smollm2_reference();

}  // namespace quire::test
