// SPDX-License-Identifier: Apache-2.0
// tokenize, detokenize and render. SmolLM2's part needs `quire pull smollm2`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Tokenize, EqualsTransformers) {
  std::vector<json> texts;
  std::vector<json> ids;
  const json& rows = smollm2_reference()["tokenizer"];
  for (const json& row : rows) {
    texts.push_back({{"text", row["text"]}});
    ids.push_back({{"ids", row["ids"]}});
  }
  texts.push_back({{"text", "<|im_end|>"}, {"parse_special", false}});
  texts.push_back({{"text", "<|im_end|>"}});
  const auto tokenized = run_lines({"tokenize", "smollm2"}, texts);
  const auto detokenized = run_lines({"detokenize", "smollm2"}, ids);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(rows[i]["text"].dump());
    EXPECT_EQ(tokenized[i]["ids"], rows[i]["ids"]);
    EXPECT_EQ(tokenized[i]["decoded"], rows[i]["decoded"]);
    EXPECT_EQ(tokenized[i]["tokens"].size(), rows[i]["ids"].size());
    EXPECT_EQ(detokenized[i]["text"], rows[i]["decoded"]);
  }
  EXPECT_GT(tokenized[rows.size()]["ids"].size(), 1u);
  EXPECT_EQ(tokenized[rows.size() + 1]["ids"], json({2}));
}

TEST(Render, EqualsTransformers) {
  std::vector<json> lines;
  for (const json& row : smollm2_reference()["chat"]) {
    lines.push_back(
        {{"messages", row["messages"]}, {"add_generation_prompt", row["add_generation_prompt"]}});
  }
  const auto results = run_lines({"render", "smollm2"}, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(results[i]["text"], smollm2_reference()["chat"][i]["rendered"]);
  }
}

TEST(Render, TakesATemplateFile) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "chat.jinja";
  write_file(file,
             "{{ bos_token }}{% for m in messages %}[{{ m.role }}:{{ m.content }}"
             "{{ m.extra | tojson }}]{% endfor %}{{ kind }}{{ strftime_now('%Y-%m-%d') }}");
  const auto results = run_lines(
      {"render", "--template", file},
      {{{"messages", {{{"role", "user"}, {"content", "hi"}, {"extra", {{"b", 1.0}, {"a", 2}}}}}},
        {"bos_token", "<s>"},
        {"kwargs", {{"kind", "k"}}},
        {"now", "2025-03-09T08:05:07"}},
       {{"messages", 3}},
       {{"messages", json::array()}, {"now", "yesterday"}}});
  EXPECT_EQ(results[0]["text"], R"(<s>[user:hi{"a": 2, "b": 1.0}]k2025-03-09)");
  EXPECT_EQ(results[1]["error"]["code"], "InvalidArgument");
  EXPECT_THAT(results[2]["error"]["message"].get<std::string>(), HasSubstr("yesterday"));
}

TEST(Render, RawSeesOnlyItsContext) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "raw.jinja";
  write_file(file, "{{ x }}{{ messages is defined }}{{ big }}");
  const ProgramOutcome outcome =
      run_program({"render", "--template", file, "--raw", "--jsonl"},
                  R"({"context": {"x": [1.0, "é"], "big": 123456789012345678901234567890}})"
                  "\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["text"], "[1.0, 'é']False123456789012345678901234567890");
}

TEST(Render, NamesTheFileOfABrokenTemplate) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "broken.jinja";
  write_file(file, "{% if %}");
  const ProgramOutcome outcome = run_program({"render", "--template", file});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, testing::StartsWith("error: Template: " + file));
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace quire::test
