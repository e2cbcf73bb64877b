// SPDX-License-Identifier: Apache-2.0
// Progress shows in a terminal and nowhere else, and nothing is ever coloured elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kModel = QUIRE_TEST_DATA "/models/llama-q4_k_m-mixture.gguf";
constexpr const char* kEscape = "\033[";

struct Case {
  std::vector<std::string> arguments;
  std::string progress;
};

std::vector<Case> cases(const std::filesystem::path& folder) {
  write_file(folder / "trace.jsonl", "{\"hash_ids\": [1, 2]}\n{\"hash_ids\": [1, 3]}\n");
  return {{{"generate", kModel, "--prompt", "a"}, "loading " + kModel + " 100 %"},
          {{"convert", kModel, folder / "converted"}, "converting " + kModel + " 100 %"},
          {{"replay", folder / "trace.jsonl"}, "replaying " + folder.string()},
          {{"bench", kModel, "--no-peers", "--repeats", "1"}, "measuring 100 %"}};
}

TEST(Progress, IsSilentOutsideATerminal) {
  const TemporaryFolder folder;
  for (const Case& c : cases(folder.path())) {
    const ProgramOutcome outcome = run_program(c.arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "") << c.progress;
    EXPECT_THAT(outcome.out, Not(HasSubstr(kEscape)));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\r")));
  }
}

TEST(Progress, ShowsInATerminal) {
  const TemporaryFolder folder;
  for (const Case& c : cases(folder.path())) {
    const std::optional<ProgramOutcome> outcome = run_in_terminal(c.arguments);
    if (!outcome) GTEST_SKIP() << "this machine makes no terminals: is /dev/pts mounted?";
    EXPECT_EQ(outcome->status, 0) << outcome->err;
    EXPECT_THAT(outcome->err, HasSubstr(c.progress));
    EXPECT_THAT(outcome->out, Not(HasSubstr(c.progress)));
  }
}

TEST(Progress, LinesOnRequestElsewhere) {
  const TemporaryFolder folder;
  for (Case& c : cases(folder.path())) {
    c.arguments.emplace_back("--verbose");
    const ProgramOutcome outcome = run_program(c.arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(c.progress));
    EXPECT_THAT(outcome.err, Not(HasSubstr("\r")));
  }
}

}  // namespace
}  // namespace quire::test
