// SPDX-License-Identifier: Apache-2.0
// The divergence command on the packaged SmolLM2: needs `quire pull smollm2`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kDivergence = {"divergence", "smollm2"};
const json kQuestion = {{"role", "user"}, {"content", "What is the capital of France?"}};

json system_says(const std::string& text) {
  return {{{"role", "system"}, {"content", text}}, kQuestion};
}

ProgramOutcome run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), kDivergence.begin(), kDivergence.end());
  return run_program(arguments);
}

// Index and ids of transformers' template.
TEST(DivergenceCommand, OfMessagesIsWhereTransformersTemplatePartsThem) {
  const json& chat = smollm2_reference()["chat"];
  const json& a = chat[0];
  const json& b = chat[2];
  const auto x = a["ids"].get<std::vector<int>>();
  const auto y = b["ids"].get<std::vector<int>>();
  const auto index = std::ranges::mismatch(x, y).in1 - x.begin();
  const json found = run_lines(kDivergence, {{{"a", a["messages"]}, {"b", b["messages"]}}}).front();
  EXPECT_EQ(found["shared"], index);
  EXPECT_EQ(found["index"], index);
  EXPECT_EQ(found["a"]["id"], x[static_cast<std::size_t>(index)]);
  EXPECT_EQ(found["b"]["id"], y[static_cast<std::size_t>(index)]);
  EXPECT_EQ(found["a"]["text"], "You");
  EXPECT_EQ(found["b"]["text"], "Today");
  EXPECT_EQ(found["a"]["message"], nullptr) << "the template's own";
  EXPECT_EQ(found["a"]["char"], nullptr);
  EXPECT_EQ(found["b"]["message"], 0);
  EXPECT_EQ(found["b"]["char"], 0);
  EXPECT_EQ(found["suspects"], json({"default system prompt injected by the template"}));
}

TEST(DivergenceCommand, OfTextsAndIdsTellsTokensAndCharacters) {
  const auto found =
      run_lines(kDivergence, {{{"a", "It was été, they say"}, {"b", "It was été, she says"}},
                              {{"a", {1, 2, 3}}, {"b", {1, 2}}},
                              {{"a", "The same"}, {"b", "The same"}},
                              {{"a", {{"prompt", "One two"}}}, {"b", {{"ids", {1}}}}}});
  EXPECT_EQ(found[0]["a"]["text"], " they");
  EXPECT_EQ(found[0]["b"]["text"], " she");
  EXPECT_EQ(found[0]["a"]["char"], 11) << "characters, not bytes";
  EXPECT_EQ(found[0]["a"]["message"], nullptr);
  EXPECT_EQ(found[0]["suspects"], json::array());
  EXPECT_EQ(found[1]["shared"], 2);
  EXPECT_EQ(found[1]["a"]["id"], 3);
  EXPECT_EQ(found[1]["b"]["id"], nullptr) << "it ends there";
  EXPECT_EQ(found[2]["index"], nullptr);
  EXPECT_EQ(found[2]["shared"], 2);
  EXPECT_EQ(found[3]["shared"], 0);
}

TEST(DivergenceCommand, NamesTheSuspects) {
  const std::string one = R"({"type":"function","function":{"name":"one"}})";
  const std::string two = R"({"type":"function","function":{"name":"two"}})";
  const auto with_tools = [](const std::string& tools, const std::string& text) {
    return json{{"messages", {{{"role", "user"}, {"content", text}}}},
                {"tools", json::parse(tools)}};
  };
  struct Case {
    json a, b;
    std::vector<std::string> suspects;
  };
  const Case cases[] = {
      {system_says("Today is Tuesday."),
       system_says("Today is Friday."),
       {"other system prompt", "date"}},
      {system_says("Be brief."), system_says("Be kind."), {"other system prompt"}},
      {"Hello", "Hello ", {"trailing space"}},
      {"One two", "One  two", {"white space"}},
      {with_tools("[" + one + "," + two + "]", "A"),
       with_tools("[" + two + "," + one + "]", "B"),
       {"tool order"}},
      {with_tools("[" + one + "]", "A"), with_tools("[" + two + "]", "B"), {"other tools"}}};
  std::vector<json> lines;
  for (const Case& c : cases) lines.push_back({{"a", c.a}, {"b", c.b}});
  const auto found = run_lines(kDivergence, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(found[i]["suspects"], json(cases[i].suspects)) << lines[i];
  }
}

TEST(DivergenceCommand, ABadLineIsAnErrorAndTheNextIsAnswered) {
  const auto found = run_lines(kDivergence, {json::object({{"a", "x"}}),
                                             {{"a", 5}, {"b", "x"}},
                                             {{"a", {999999999}}, {"b", "x"}},
                                             {{"a", "x"}, {"b", "y"}}});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(found[static_cast<std::size_t>(i)]["error"]["code"], "InvalidArgument") << i;
  }
  EXPECT_THAT(found[0]["error"]["message"].get<std::string>(), HasSubstr("b"));
  EXPECT_EQ(found[3]["index"], 0);
}

TEST(DivergenceCommand, SpeaksToPeople) {
  const ProgramOutcome parted =
      run({"--a", json::array({kQuestion}).dump(), "--b", system_says("Today is Tuesday.").dump()});
  EXPECT_EQ(parted.status, 0) << parted.err;
  EXPECT_THAT(parted.out, StartsWith("3 tokens in common\n"));
  EXPECT_THAT(parted.out, HasSubstr("\nb: \"<|im_start|>system\\n\" | \"Today is Tuesday."));
  EXPECT_THAT(parted.out, HasSubstr(", message 0, character 0\n"));
  EXPECT_THAT(parted.out, HasSubstr("\nsuspect: default system prompt injected by the template\n"));
  EXPECT_EQ(parted.err, "");
  EXPECT_THAT(run({"--a", "One", "--b", "One, two"}).out, HasSubstr(", which ends there"));
  EXPECT_EQ(run({"--a", "One", "--b", "One"}).out, "1 tokens in common; the prompts are equal\n");
  EXPECT_EQ(run({"--a", "One"}).status, 2);
}

}  // namespace
}  // namespace quire::test
