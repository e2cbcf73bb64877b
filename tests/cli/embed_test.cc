// SPDX-License-Identifier: Apache-2.0
// embed. Needs `quire pull minilm`, and smollm2 for what is no encoder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Embed, EqualsTransformers) {
  std::vector<json> lines;
  const json& rows = smollm2_reference()["embeddings"];
  for (const json& row : rows) {
    lines.push_back({{"text", row["text"]}});
    lines.push_back({{"ids", row["ids"]}});
  }
  const auto results = run_lines({"embed", "minilm"}, lines);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(rows[i]["text"].dump());
    const auto values = results[2 * i]["embedding"].get<std::vector<double>>();
    ASSERT_EQ(values.size(), 384U);
    for (std::size_t j = 0; j < 8; ++j) {
      EXPECT_NEAR(values[j], rows[i]["first8"][j].get<double>(), 1e-4);
    }
    EXPECT_EQ(results[2 * i + 1]["embedding"], results[2 * i]["embedding"]);
  }
}

TEST(Embed, BadLinesAreErrorsOfTheirOwn) {
  const auto results = run_lines({"embed", "minilm"}, {{{"text", 3}},
                                                       json::object(),
                                                       {{"text", "a"}, {"ids", {101}}},
                                                       {{"ids", {-1}}},
                                                       {{"ids", std::vector<int>(513, 101)}},
                                                       {{"text", "a"}}});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i]["error"]["code"], "InvalidArgument");
  EXPECT_EQ(results[4]["error"]["code"], "ContextOverflow");
  EXPECT_EQ(results[5]["embedding"].size(), 384U);
}

TEST(Embed, ADecoderIsUnsupported) {
  const ProgramOutcome outcome = run_program({"embed", "smollm2", "--text", "a"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("error: Unsupported: "));
  EXPECT_EQ(run_program({"embed", "minilm"}).status, 2);
}

TEST(Embed, AnEncoderIsInspected) {
  const ProgramOutcome outcome = run_program({"inspect", "minilm", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json info = json::parse(outcome.out);
  EXPECT_EQ(info["architecture"], "bert");
  EXPECT_EQ(info["context"], 256);
  EXPECT_EQ(info["tokenizer"], "wordpiece");
}

}  // namespace
}  // namespace quire::test
