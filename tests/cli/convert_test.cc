// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::filesystem::path kFile =
    std::filesystem::path(QUIRE_TEST_DATA) / "models" / "gguf-qwen3.gguf";

TEST(Convert, MakesAFolderWithTheSameLogits) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "out";
  const ProgramOutcome made = run_program({"convert", kFile, out, "--dtype", "f32", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(made.err, "");
  const json result = json::parse(made.out);
  EXPECT_EQ(result["path"], std::filesystem::canonical(out).string());
  EXPECT_GT(result["tensors"], 10);
  EXPECT_GT(result["bytes"], 1000);
  EXPECT_GE(result["seconds"], 0.0);

  const std::vector<json> request = {{{"ids", {3, 5, 8}}, {"top", "all"}}};
  const auto from = run_lines({"logits", kFile, "--dtype", "f32"}, request);
  const auto to = run_lines({"logits", out, "--dtype", "f32"}, request);
  EXPECT_GT(from[0]["logits"].size(), 10U);
  EXPECT_EQ(from, to);

  const ProgramOutcome again = run_program({"convert", kFile, out});
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err, testing::StartsWith("error: InvalidArgument: "));
  EXPECT_THAT(again.err, HasSubstr("expected a new or empty folder"));
}

TEST(Convert, SaysWhatWasMade) {
  const TemporaryFolder folder;
  const ProgramOutcome made = run_program({"convert", kFile, folder.path() / "out", "--verbose"});
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("out: "));
  EXPECT_THAT(made.out, HasSubstr(" tensors, "));
  EXPECT_THAT(made.err, HasSubstr("100 %"));
}

TEST(Convert, RefusesOtherDtypesAndFiles) {
  const TemporaryFolder folder;
  const std::string out = folder.path() / "out";
  EXPECT_EQ(run_program({"convert", kFile, out, "--dtype", "q8"}).status, 2);
  EXPECT_EQ(run_program({"convert", kFile}).status, 2);
  write_file(folder.path() / "text.gguf", "no model");
  const ProgramOutcome outcome = run_program({"convert", folder.path() / "text.gguf", out});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("text.gguf: expected a .gguf file"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace quire::test
