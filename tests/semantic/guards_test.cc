// SPDX-License-Identifier: Apache-2.0
#include "semantic/guards.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace quire {
namespace {

// Without an encoder's states: substitution never objects then.
std::optional<Guard> refusal(const std::string& asked, const std::string& stored) {
  const Reading a{read_utterance(asked), {}};
  const Reading b{read_utterance(stored), {}};
  const auto verdict = first_refusal(pair_words(a, b), {});
  return verdict ? std::optional(verdict->guard) : std::nullopt;
}

struct Case {
  std::optional<Guard> guard;
  const char* a;
  const char* b;
};

class Cases : public ::testing::TestWithParam<Case> {};

TEST_P(Cases, AreJudgedFromBothSides) {
  const Case& c = GetParam();
  const auto name = [](std::optional<Guard> guard) {
    return guard ? std::string(to_string(*guard)) : "nothing";
  };
  EXPECT_EQ(name(refusal(c.a, c.b)), name(c.guard)) << c.a << " / " << c.b;
  EXPECT_EQ(name(refusal(c.b, c.a)), name(c.guard)) << c.b << " / " << c.a;
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, Cases,
    ::testing::Values(
        Case{Guard::kNumbers, "Boil an egg for 7 minutes", "Boil an egg for 9 minutes"},
        Case{Guard::kNumbers, "a loan of forty thousand", "a loan of fourteen thousand"},
        Case{Guard::kNumbers, "Upgrade to 3.11.2", "Upgrade to 3.12.1"},
        Case{Guard::kNumbers, "What does tar -x do?", "What does tar -X do?"},
        Case{Guard::kNumbers, "Open src/main.cc", "Open src/test.cc"},
        Case{Guard::kNumbers, "the 2nd chapter", "the third chapter"},
        Case{Guard::kNumbers, "It opens at 9:30", "It opens at 9:45"},
        Case{Guard::kNumbers, "Rocky II", "Rocky III"},
        Case{Guard::kNumbers, "Say \"good night\"", "Say \"good evening\""},
        Case{Guard::kNumbers, "买三张票", "买五张票"},
        Case{std::nullopt, "a budget of 2,500,000", "a budget of 2.5 million"},
        Case{std::nullopt, "forty-two guests", "42 guests"},
        Case{std::nullopt, "a 15% tip", "a 15 percent tip"},
        Case{std::nullopt, "due on 2024-05-07", "due on May 7, 2024"},
        Case{std::nullopt, "the 1st of May", "the first of May"},
        Case{std::nullopt, "$30 a month", "30 dollars a month"},
        Case{std::nullopt, "two hundred and six bones", "206 bones"}));

INSTANTIATE_TEST_SUITE_P(
    Units, Cases,
    ::testing::Values(Case{Guard::kUnits, "Swim 2 km", "Swim 2 miles"},
                      Case{Guard::kUnits, "Wait 10 s", "Wait 10 min"},
                      Case{Guard::kUnits, "the salary in pesos", "the salary in francs"},
                      Case{Guard::kUnits, "an hourly backup", "a weekly backup"},
                      Case{std::nullopt, "a 20 kg bag", "a bag of 20 kilograms"},
                      Case{std::nullopt, "every 5 secs", "every 5 seconds"},
                      Case{std::nullopt, "Is 23 a prime number?", "Is 23 prime?"},
                      Case{std::nullopt, "yearly fees", "annual fees"}));

INSTANTIATE_TEST_SUITE_P(
    Polarity, Cases,
    ::testing::Values(
        Case{Guard::kPolarity, "Is the pool heated?", "Is the pool not heated?"},
        Case{Guard::kPolarity, "Rooms with a view", "Rooms without a view"},
        Case{Guard::kPolarity, "Can I skip the exam?", "Can't I ever skip the exam?"},
        Case{Guard::kPolarity, "Turn the heating on", "Turn the heating off"},
        Case{Guard::kPolarity, "How do I unpublish a page?", "How do I publish a page?"},
        Case{Guard::kPolarity, "Is this seat occupied?", "Is this seat unoccupied?"},
        Case{Guard::kPolarity, "the cheapest flights", "the most expensive flights"},
        Case{Guard::kPolarity, "a harmless spider", "a harmful spider"},
        Case{Guard::kPolarity, "Why does the build fail to start?", "Why does the build start?"},
        Case{Guard::kPolarity, "the tallest tower", "the shortest tower"},
        Case{Guard::kPolarity, "这家店不开门吗", "这家店开门吗"},
        Case{Guard::kPolarity, "the first train of the day", "the last train of the day"},
        Case{Guard::kPolarity, "Is the bakery open at night?",
             "Is the bakery open in the morning?"},
        Case{Guard::kPolarity, "Turn the alerts off", "Enable the alerts"},
        Case{std::nullopt, "Turn the alerts off", "Disable the alerts"},
        Case{std::nullopt, "Good morning, is the bakery open?", "Is the bakery open?"},
        Case{std::nullopt, "Why isn't it working?", "Why is it not working?"},
        Case{std::nullopt, "The option is not valid", "The option is invalid"},
        Case{std::nullopt, "It isn't hard", "It's easy"},
        Case{std::nullopt, "The shop is not open", "The shop is closed"},
        Case{std::nullopt, "Is a cheetah faster than a lion?", "Is a lion slower than a cheetah?"},
        Case{std::nullopt, "No, it is in the shed.", "It is in the shed."},
        Case{std::nullopt, "你能不能帮我", "你能帮我"}));

INSTANTIATE_TEST_SUITE_P(
    Roles, Cases,
    ::testing::Values(
        Case{Guard::kRoles, "Trains from Lyon to Paris", "Trains from Paris to Lyon"},
        Case{Guard::kRoles, "Did the fox eat the hen?", "Did the hen eat the fox?"},
        Case{Guard::kRoles, "Is gold heavier than lead?", "Is lead heavier than gold?"},
        Case{Guard::kRoles, "Divide 12 by 3", "Divide 3 by 12"},
        Case{Guard::kRoles, "从北京到上海的火车", "从上海到北京的火车"},
        Case{std::nullopt, "Trains from Lyon to Paris", "Trains to Paris from Lyon"},
        Case{std::nullopt, "In Rust, how do I parse JSON?", "How do I parse JSON in Rust?"}));

INSTANTIATE_TEST_SUITE_P(
    Entities, Cases,
    ::testing::Values(Case{Guard::kEntities, "Who founded Nokia?", "Who founded Ericsson?"},
                      Case{Guard::kEntities, "the weather in Oslo", "the weather in Bergen"},
                      Case{Guard::kEntities, "Does it run on macOS?", "Does it run on Linux?"},
                      Case{std::nullopt, "moving to LA", "moving to Los Angeles"},
                      Case{std::nullopt, "the USA", "the U.S.A."}));

INSTANTIATE_TEST_SUITE_P(
    Referents, Cases,
    ::testing::Values(Case{Guard::kReferents, "What is my limit?", "What is your limit?"},
                      Case{Guard::kReferents, "Who painted it?", "When was it painted?"},
                      Case{Guard::kPolarity, "Take at least one", "Take at most one"},
                      Case{Guard::kReferents, "Must I attend?", "May I attend?"},
                      Case{Guard::kReferents, "Are all seats taken?", "Are some seats taken?"},
                      Case{Guard::kReferents, "Only guests may park", "Guests may park"},
                      Case{Guard::kReferents, "Water it every other day", "Water it every day"},
                      Case{std::nullopt, "Where can I park?", "How can I park?"}));

INSTANTIATE_TEST_SUITE_P(
    Substitution, Cases,
    ::testing::Values(Case{Guard::kSubstitution, "怎么打开通知？", "怎么关闭通知？"},
                      Case{Guard::kSubstitution, "明天北京的天气", "明天上海的天气"},
                      Case{std::nullopt, "怎么打开通知？", "如何打开通知"},
                      Case{std::nullopt, "什么是区块链？", "区块链是什么？"}));

struct LabelledPair {
  bool reusable;
  std::string a;
  std::string b;
};

std::vector<LabelledPair> authored() {
  std::ifstream file(std::string(QUIRE_TEST_DATA) + "/pairs/authored.tsv");
  std::vector<LabelledPair> pairs;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t end = line.find('\t', at);
      fields.push_back(line.substr(at, end - at));
      at = end == std::string::npos ? end : end + 1;
    }
    pairs.push_back({fields.at(2) == "1", fields.at(3), fields.at(4)});
  }
  return pairs;
}

TEST(Guards, NeverObjectToTheSameText) {
  for (const LabelledPair& pair : authored()) {
    EXPECT_EQ(refusal(pair.a, pair.a), std::nullopt) << pair.a;
    EXPECT_EQ(refusal(pair.b, pair.b), std::nullopt) << pair.b;
    EXPECT_EQ(refusal("Please: " + pair.a, "  " + pair.a + "  "), std::nullopt) << pair.a;
  }
}

TEST(Guards, JudgeAlikeFromBothSides) {
  for (const LabelledPair& pair : authored()) {
    EXPECT_EQ(refusal(pair.a, pair.b).has_value(), refusal(pair.b, pair.a).has_value())
        << pair.a << " / " << pair.b;
  }
}

TEST(Guards, AreSwitchedOneByOne) {
  const Reading a{read_utterance("Swim 2 km"), {}};
  const Reading b{read_utterance("Swim 3 miles"), {}};
  const Pairing pairing = pair_words(a, b);
  EXPECT_EQ(first_refusal(pairing, {})->guard, Guard::kNumbers);
  EXPECT_EQ(first_refusal(pairing, {.numbers = false})->guard, Guard::kUnits);
  EXPECT_FALSE(first_refusal(pairing, {.numbers = false, .units = false}));
  EXPECT_FALSE(first_refusal(pairing, GuardSet::none()));
}

TEST(Guards, SayWhatTheySaw) {
  const Reading a{read_utterance("Who founded Nokia?"), {}};
  const Reading b{read_utterance("Who founded Ericsson?"), {}};
  EXPECT_EQ(first_refusal(pair_words(a, b), {})->saw, "Nokia against Ericsson");
}

// One word exchanged: the states of the words decide.
TEST(Guards, SubstitutionGoesByTheWordsStates) {
  const auto reading = [](const std::string& text, const std::vector<std::string>& pieces,
                          const std::vector<float>& states) {
    Reading result{read_utterance(text), {}};
    result.states = word_states(result.said, pieces, states);
    return result;
  };
  const std::vector<std::string> cake = {"[CLS]", "bake", "a", "ca", "##ke", "[SEP]"};
  const std::vector<std::string> pie = {"[CLS]", "bake", "a", "pie", "[SEP]"};
  const Reading a = reading("Bake a cake", cake, {0, 9, 1, 0, 0, 1, 1, 0, 1, 0, 9, 0});
  const Reading near = reading("Bake a pie", pie, {0, 9, 1, 0, 0, 1, 1, 0.5, 9, 0});
  const Reading far = reading("Bake a pie", pie, {0, 9, 1, 0, 0, 1, 0, 1, 9, 0});
  EXPECT_FALSE(substituted_word(pair_words(a, near)));
  ASSERT_TRUE(substituted_word(pair_words(a, far)));
  EXPECT_EQ(*substituted_word(pair_words(a, far)), "cake against pie");
}

TEST(Guards, ReadHostileTexts) {
  const std::string texts[] = {"",
                               " ",
                               ".",
                               "((((",
                               "`",
                               "``",
                               "-",
                               "--",
                               "n't",
                               "'s",
                               "\"",
                               "\xff\xfe",
                               std::string(1, '\0'),
                               "1,",
                               ",1",
                               "1.2.3.4",
                               "$",
                               "0x",
                               "can't'n't",
                               "不",
                               "不不不",
                               "²",
                               std::string(100000, 'a'),
                               std::string(20000, '9'),
                               "one hundred hundred and and one",
                               "not not not not",
                               "than than",
                               "out of",
                               "or not"};
  for (const std::string& a : texts) {
    for (const std::string& b : texts) {
      const auto forth = refusal(a, b);
      EXPECT_EQ(forth.has_value(), refusal(b, a).has_value())
          << a.substr(0, 40) << " / " << b.substr(0, 40);
      if (&a == &b) {
        EXPECT_EQ(forth, std::nullopt) << a.substr(0, 40);
      }
    }
  }
}

}  // namespace
}  // namespace quire
