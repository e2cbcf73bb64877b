// SPDX-License-Identifier: Apache-2.0
// How the program ends: exit codes, error lines, and what goes where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

TEST(Usage, WrongUsageIsTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"sing"},
      {"generate"},
      {"generate", "smollm2"},
      {"generate", "smollm2", "--frobnicate"},
      {"generate", "smollm2", "--prompt", "a", "--temperature", "hot"},
      {"generate", "smollm2", "--prompt", "a", "--dtype", "f64"},
      {"generate", "smollm2", "--prompt", "a", "--ids", "1"},
      {"pull", "gpt5"},
      {"render"}};
  for (const auto& arguments : wrong) {
    const ProgramOutcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.status, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err, "");
  }
}

// The commands that the program's own help lists.
std::vector<std::string> commands() {
  std::istringstream help(run_program({"--help"}).out);
  std::vector<std::string> names;
  std::string line;
  while (std::getline(help, line) && line != "Subcommands:") {
  }
  while (std::getline(help, line) && line.starts_with("  ")) {
    names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST(Usage, HelpOfEveryCommandTeaches) {
  const std::vector<std::string> names = commands();
  EXPECT_GT(names.size(), 15U);
  for (const std::string& command : names) {
    const ProgramOutcome outcome = run_program({command, "--help"});
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_EQ(outcome.err, "");
    // An example, whose options are those of the command.
    const std::size_t example = outcome.out.find("Example:\n  quire " + command + " ");
    ASSERT_NE(example, std::string::npos) << command;
    std::istringstream words(outcome.out.substr(example));
    for (std::string word; words >> word;) {
      if (!word.starts_with("--")) continue;
      EXPECT_LT(outcome.out.find(word + " "), example) << command << " " << word;
    }
  }
}

TEST(Usage, TellsItsVersion) {
  EXPECT_THAT(run_program({"--version"}).out, MatchesRegex("quire [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Usage, FailuresAreOneLine) {
  const TemporaryFolder empty;
  const std::vector<std::string> home = {"QUIRE_HOME=" + empty.path().string()};
  const std::string folder = empty.path() / "folder";
  write_file(folder + "/readme", "");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"generate", "smollm2", "--prompt", "a"},
       "error: NotFound: smollm2: .*quire pull smollm2\n"},
      {{"inspect", "no/such/thing"}, "error: NotFound: no/such/thing: .*\n"},
      {{"generate", folder, "--prompt", "a"}, "error: NotFound: .*config.json.*\n"},
      {{"tokenize", folder, "--text", "a"}, "error: NotFound: .*folder.*\n"},
      {{"tokenize", folder, "--jsonl"}, "error: NotFound: .*folder.*\n"}};
  for (const auto& [arguments, line] : cases) {
    const ProgramOutcome outcome = run_program(arguments, "", home);
    EXPECT_EQ(outcome.status, 1) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, MatchesRegex(line));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Usage, RefusesAnUnknownInstructionSet) {
  const ProgramOutcome outcome = run_program({"pull", "smollm2"}, "", {"QUIRE_CPU=abacus"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, StartsWith("error: InvalidArgument: QUIRE_CPU: "));
}

}  // namespace
}  // namespace quire::test
