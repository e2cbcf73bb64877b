// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/divergence.h>

#include "generate/text_difference.h"
#include "tests/generate/models.h"

namespace quire {
namespace {

using test::smollm2;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Generator& generator() {
  static const Generator generator(smollm2(), {.prefix_cache_bytes = 0});
  return generator;
}

Request messages(std::vector<Message> messages) {
  Request request;
  request.messages = std::move(messages);
  return request;
}

Request text(std::string prompt) {
  Request request;
  request.prompt = std::move(prompt);
  return request;
}

const Message kQuestion = {"user", "What is the capital of France?"};

// The ids of transformers' template.
TEST(Divergence, NamesTheDefaultSystemPrompt) {
  const Json& chat = test::smollm2_reference()["chat"];
  const auto ids_of = [&](std::size_t i) { return chat[i]["ids"].get<TokenIds>(); };
  const TokenIds a = ids_of(0);
  const TokenIds b = ids_of(2);
  const auto [x, y] = std::ranges::mismatch(a, b);
  const Divergence found = find_divergence(generator(), messages({kQuestion}),
                                           messages({{"system", "Today is Tuesday."}, kQuestion}));
  EXPECT_EQ(found.shared, x - a.begin());
  EXPECT_EQ(found.index, found.shared);
  EXPECT_EQ(found.a.id, *x);
  EXPECT_EQ(found.b.id, *y);
  EXPECT_EQ(found.a.text, "You");
  EXPECT_EQ(found.b.text, "Today");
  EXPECT_EQ(found.a.message, std::nullopt) << "the template's own";
  EXPECT_EQ(found.b.message, 0);
  EXPECT_EQ(found.b.character, 0);
  EXPECT_EQ(found.a.before, "<|im_start|>system\n");
  EXPECT_EQ(found.b.after, "Today is Tuesday.<|im_end|>\n<|im_start|>");
  EXPECT_THAT(found.suspects, ElementsAre(Suspect::kDefaultSystemPrompt));
  EXPECT_EQ(to_string(found.suspects[0]), "default system prompt injected by the template");
}

TEST(Divergence, OfEqualPromptsIsNone) {
  const Divergence found = find_divergence(generator(), text("One, two"), text("One, two"));
  EXPECT_EQ(found.index, std::nullopt);
  EXPECT_EQ(found.shared, 3);
  EXPECT_THAT(found.suspects, IsEmpty());
}

TEST(Divergence, TellsWhereInATextOrIds) {
  Divergence found =
      find_divergence(generator(), text("It was été, they say"), text("It was été, she says"));
  EXPECT_EQ(found.a.text, " they");
  EXPECT_EQ(found.a.character, 11) << "characters, not bytes";
  EXPECT_EQ(found.b.character, 11);
  EXPECT_EQ(found.a.message, std::nullopt);
  Request a;
  Request b;
  a.ids = TokenIds{1, 2, 3};
  b.ids = TokenIds{1, 2};
  found = find_divergence(generator(), a, b);
  EXPECT_EQ(found.index, 2);
  EXPECT_EQ(found.a.id, 3);
  EXPECT_EQ(found.b.id, std::nullopt);
  EXPECT_EQ(found.b.text, "");
}

TEST(Divergence, TellsWhichMessage) {
  const std::vector<Message> a = {{"system", "Be brief."},
                                  {"user", "Hi"},
                                  {"assistant", "Hello!"},
                                  {"user", "Name one ocean, please."}};
  std::vector<Message> b = a;
  b[3].content = "Name one river, please.";
  Divergence found = find_divergence(generator(), messages(a), messages(b));
  EXPECT_EQ(found.a.message, 3);
  EXPECT_EQ(found.a.character, 8);
  EXPECT_EQ(found.a.text, " ocean");
  EXPECT_THAT(found.suspects, IsEmpty());
  b = a;
  b[0].content = "Be very brief.";
  found = find_divergence(generator(), messages(a), messages(b));
  EXPECT_EQ(found.b.message, 0);
  EXPECT_THAT(found.suspects, ElementsAre(Suspect::kSystemPrompt));
}

TEST(Divergence, NamesDates) {
  const auto suspects = [](const std::string& a, const std::string& b) {
    return find_divergence(generator(), messages({{"system", a}, kQuestion}),
                           messages({{"system", b}, kQuestion}))
        .suspects;
  };
  for (const auto& [a, b] :
       {std::pair("Today is Tuesday.", "Today is Wednesday."),
        std::pair("Date: 2024-07-26", "Date: 2024-07-27"),
        std::pair("Date: 26 Jul 2024.", "Date: 27 Jul 2024."),
        std::pair("It is 10:31 now", "It is 10:32 now"), std::pair("In March", "In April")}) {
    EXPECT_THAT(suspects(a, b), ElementsAre(Suspect::kSystemPrompt, Suspect::kDate)) << a;
  }
  EXPECT_THAT(suspects("Use 3 words.", "Use 4 words."), ElementsAre(Suspect::kSystemPrompt));
}

TEST(Divergence, NamesWhiteSpace) {
  EXPECT_THAT(find_divergence(generator(), text("Hello"), text("Hello ")).suspects,
              ElementsAre(Suspect::kTrailingSpace));
  EXPECT_THAT(
      find_divergence(generator(), messages({{"user", "Hello"}}), messages({{"user", "Hello\n"}}))
          .suspects,
      ElementsAre(Suspect::kTrailingSpace));
  EXPECT_THAT(find_divergence(generator(), text("One two"), text("One  two")).suspects,
              ElementsAre(Suspect::kWhiteSpace));
}

TEST(Divergence, NamesTools) {
  const std::string one = R"({"type":"function","function":{"name":"one"}})";
  const std::string two = R"({"type":"function","function":{"name":"two"}})";
  const Generator& g = generator();
  const auto with = [](const std::string& tools, const std::string& question) {
    Request request = messages({{"user", question}});
    request.tools_json = tools;
    return request;
  };
  EXPECT_THAT(find_divergence(g, with("[" + one + "," + two + "]", "A"),
                              with("[" + two + "," + one + "]", "B"))
                  .suspects,
              ElementsAre(Suspect::kToolOrder));
  EXPECT_THAT(find_divergence(g, with("[" + one + "]", "A"), with("[" + two + "]", "B")).suspects,
              ElementsAre(Suspect::kTools));
}

TEST(TextDifference, CountsCharacters) {
  EXPECT_EQ(common_bytes("caf\u00e9", "caf\u00e8"), 3u) << "up to a character's beginning";
  EXPECT_EQ(common_bytes("a", "ab"), 1u);
  EXPECT_EQ(first_characters("caf\u00e9s", 4), "caf\u00e9");
  EXPECT_EQ(last_characters("caf\u00e9s", 2), "\u00e9s");
  EXPECT_EQ(first_characters("ab", 4), "ab");
  EXPECT_EQ(last_characters("ab", 4), "ab");
  EXPECT_EQ(trimmed(" \n a b\t"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

}  // namespace
}  // namespace quire
