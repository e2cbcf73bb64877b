// SPDX-License-Identifier: Apache-2.0
// quire semantic and quire pairs, on the packaged MiniLM.
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;

const std::vector<std::string> kSemantic = {"semantic", "minilm", "--threads", "1"};

TEST(Semantic, StoresOnMissAndExplains) {
  const auto results = run_lines(
      kSemantic,
      {{{"op", "lookup"}, {"prompt", "How do I reset my password?"}},
       {{"op", "store"}, {"prompt", "How do I reset my password?"}, {"response", "Settings"}},
       {{"op", "lookup"}, {"prompt", "How can I reset my password?"}},
       {{"op", "lookup"}, {"prompt", "How can I reset my password?"}, {"namespace", "x"}},
       {{"op", "store"}, {"prompt", "Is the API rate limited?"}, {"response", "Yes"}},
       {{"op", "lookup"}, {"prompt", "Is the API not rate limited?"}, {"threshold", 0.9}},
       {{"op", "lookup"},
        {"prompt", "Is the API not rate limited?"},
        {"threshold", 0.9},
        {"guards", false}},
       {{"op", "report_wrong"}, {"id", 2}},
       {{"op", "lookup"},
        {"prompt", "Is the API not rate limited?"},
        {"threshold", 0.9},
        {"guards", false}},
       {{"op", "store"}, {"prompt", "x"}, {"response", "y"}, {"ttl_s", -1}},
       {{"op", "nonsense"}},
       {{"op", "remove"}, {"id", 2}},
       {{"op", "stats"}}});
  EXPECT_EQ(results[0]["hit"], false);
  EXPECT_EQ(results[0]["reason"], "nothing_stored");
  EXPECT_EQ(results[1]["id"], 1);
  EXPECT_EQ(results[2]["hit"], true);
  EXPECT_EQ(results[2]["level"], "semantic");
  EXPECT_EQ(results[2]["response"], "Settings");
  EXPECT_EQ(results[2]["matched"], "How do I reset my password?");
  EXPECT_NEAR(results[2]["score"].get<double>(), 0.99168, 1e-4);
  EXPECT_EQ(results[3]["reason"], "nothing_stored");
  EXPECT_EQ(results[5]["reason"], "polarity");
  EXPECT_EQ(results[6]["hit"], true);
  EXPECT_EQ(results[7]["known"], true);
  EXPECT_EQ(results[8]["hit"], false);
  EXPECT_EQ(results[9]["error"]["code"], "InvalidArgument");
  EXPECT_EQ(results[10]["error"]["code"], "InvalidArgument");
  EXPECT_EQ(results[11]["removed"], true);
  EXPECT_EQ(results[12]["entries"], 1);
  EXPECT_EQ(results[12]["reported"]["wrong"], 1);
}

TEST(Semantic, AFileKeepsAnswers) {
  const TemporaryFolder folder;
  auto command = kSemantic;
  command.insert(command.end(), {"--path", (folder.path() / "answers.db").native()});
  run_lines(command, {{{"op", "store"}, {"prompt", "Is it free?"}, {"response", "Yes"}}});
  const auto results =
      run_lines(command, {{{"op", "lookup"}, {"prompt", "is it free?"}}, {{"op", "verify"}}});
  EXPECT_EQ(results[0]["level"], "normalized");
  EXPECT_EQ(results[1]["sound"], true);
}

TEST(Pairs, CountsWhatIsServed) {
  const std::string file = std::string(QUIRE_TEST_DATA) + "/pairs/authored.tsv";
  const auto run = [&](const char* guards) {
    return json::parse(
        run_program({"pairs", "minilm", file, "--threshold", "0.8", "--guards", guards, "--json"})
            .out);
  };
  const auto bare = run("off");
  EXPECT_EQ(bare["rows"], 215);
  EXPECT_EQ(bare["kinds"]["negation"], (json{{"rows", 17}, {"served", 17}}));
  EXPECT_NEAR(bare["false_hit_rate"].get<double>(), 0.679, 0.001);
  EXPECT_NEAR(bare["recall"].get<double>(), 0.946, 0.001);
  const auto guarded = run("on");
  EXPECT_EQ(guarded["kinds"]["negation"]["served"], 0);
  EXPECT_LE(guarded["false_hit_rate"].get<double>(), 0.04);
  EXPECT_GE(guarded["recall"].get<double>(), 0.82);
}

}  // namespace
}  // namespace quire::test
