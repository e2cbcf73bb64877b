// SPDX-License-Identifier: Apache-2.0
// The program on the packaged SmolLM2, against transformers on the same file. Needs
// `quire pull smollm2`, and fails saying so without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kGenerate = {"generate", "smollm2", "--dtype", "f32"};

TEST(Generate, AnswersAPrompt) {
  const ProgramOutcome outcome =
      run_program({"generate", "smollm2", "--prompt", "The capital of France is",
                   "--max-new-tokens", "20", "--dtype", "f32", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["usage"]["prompt_tokens"], 5);
  EXPECT_EQ(result["usage"]["completion_tokens"], 20);
  EXPECT_EQ(result["usage"]["total_tokens"], 25);
  EXPECT_EQ(result["usage"]["cached_tokens"], 0);
  EXPECT_EQ(result["usage"]["uncached_tokens"], 5);
  EXPECT_EQ(result["cache"]["length"], 24);
  EXPECT_EQ(result["cache"]["kv"], "dynamic");
  EXPECT_EQ(result["cache"]["source"], "model");
  EXPECT_EQ(result["cache"]["why_not_more"]["reason"], "cold");
  EXPECT_EQ(result["finish_reason"], "length");
  EXPECT_TRUE(result["stop"].is_null());
  EXPECT_THAT(result["text"].get<std::string>(), StartsWith(" Paris."));
  EXPECT_GT(result["timings"]["decode_tokens_per_s"], 0);
}

TEST(Generate, DraftsAreForSpeedOnly) {
  const json& row = smollm2_reference()["greedy"][0];
  const json plain = {{"prompt", row["prompt"]}, {"max_new_tokens", 20}, {"ignore_eos", true}};
  std::vector<json> lines(3, plain);
  lines[0]["draft"] = row["text"];
  lines[1]["draft_ids"] = row["new_ids"];
  lines[2]["draft"] = "Something else altogether.";
  lines[2]["prompt_lookup"] = true;
  const auto results = run_lines(kGenerate, lines);
  for (const json& result : results) EXPECT_EQ(result["ids"], row["new_ids"]);
  for (std::size_t i : {0, 1}) {
    EXPECT_GE(results[i]["usage"]["accepted_draft_tokens"], 16) << "in passes of 5, 9 and 5";
  }
}

TEST(Generate, EqualsTransformersInEveryKindOfCache) {
  std::vector<json> lines;
  for (const json& row : smollm2_reference()["greedy"]) {
    json line = {{"prompt", row["prompt"]},
                 {"max_new_tokens", 20},
                 {"temperature", 0},
                 {"ignore_eos", true}};
    lines.push_back(line);
    for (const char* kv : {"static", "sliding"}) {
      line["kv"] = kv;
      lines.push_back(line);
    }
  }
  const auto results = run_lines(kGenerate, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(lines[i].dump());
    const json& row = smollm2_reference()["greedy"][i / 3];
    EXPECT_EQ(results[i]["ids"], row["new_ids"]);
    EXPECT_EQ(results[i]["text"], row["text"]);
    EXPECT_EQ(results[i]["cache"]["length"], row["cache_length"]);
    EXPECT_EQ(results[i]["cache"]["kv"], lines[i].value("kv", "dynamic"));
  }
}

TEST(Generate, KeepsAConversationInASession) {
  std::vector<json> lines;
  json messages = json::array();
  for (const json& turn : smollm2_reference()["chat_turns"]) {
    messages.push_back({{"role", "user"}, {"content", turn["question"]}});
    lines.push_back({{"messages", messages}, {"session", "s"}, {"max_new_tokens", 64}});
    messages.push_back({{"role", "assistant"}, {"content", turn["text"]}});
  }
  const auto results = run_lines(kGenerate, lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const json& turn = smollm2_reference()["chat_turns"][i];
    SCOPED_TRACE(turn["question"].dump());
    EXPECT_EQ(results[i]["ids"], turn["new_ids"]);
    EXPECT_EQ(results[i]["text"], turn["text"]);
    EXPECT_EQ(results[i]["finish_reason"], "eos");
    EXPECT_EQ(results[i]["usage"]["prompt_tokens"], turn["tokens_in"]);
    EXPECT_EQ(results[i]["cache"]["length"], turn["cache_now"]);
  }
  EXPECT_EQ(results[0]["cache"]["why_not_more"]["reason"], "cold");
  EXPECT_EQ(results[1]["usage"]["cached_tokens"], 44);
  EXPECT_EQ(results[1]["cache"]["reused"]["memory"], 44);
  EXPECT_EQ(results[1]["cache"]["why_not_more"]["reason"], "end_of_stored");
}

TEST(Generate, AFileKeepsPrefixesForTheNextRun) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments = kGenerate;
  arguments.insert(arguments.end(), {"--prefix-disk", folder.path() / "pages.db"});
  const json& row = smollm2_reference()["greedy"][0];
  const std::vector<json> line = {
      {{"prompt", row["prompt"]}, {"max_new_tokens", 20}, {"ignore_eos", true}}};
  const json first = run_lines(arguments, line)[0];
  const json second = run_lines(arguments, line)[0];
  EXPECT_EQ(first["cache"]["reused"]["disk"], 0);
  const std::int64_t prompt = second["usage"]["prompt_tokens"];
  EXPECT_EQ(second["cache"]["reused"]["disk"], prompt - 1);
  EXPECT_EQ(second["usage"]["cached_tokens"], prompt - 1);
  EXPECT_EQ(second["ids"], row["new_ids"]);
  const ProgramOutcome refused =
      run_program({"generate", "smollm2", "-p", "a", "--redis", "http://x", "--json"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, StartsWith("error: InvalidArgument: "));
}

TEST(Generate, GoesOnAfterBadLines) {
  const json good = {{"prompt", "a"}, {"max_new_tokens", 2}};
  const auto results = run_lines(
      kGenerate, {{{"prompt", "a"}, {"max_new_tokens", 9000}},
                  {{"prompt", "a"}, {"ids", {1}}},
                  {{"prompt", 7}},
                  {{"prompt", "a"}, {"stop", {""}}},
                  {{"prompt", "a"}, {"temperature", -1}},
                  {{"ids", {49152}}},
                  {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"semantic", true}},
                  json::array(),
                  good});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"ContextOverflow", "8192"},        {"InvalidArgument", "found 2"},
      {"InvalidArgument", "prompt"},      {"InvalidArgument", "stop"},
      {"InvalidArgument", "temperature"}, {"InvalidArgument", "49152"},
      {"InvalidArgument", "semantic"},    {"InvalidArgument", "object"}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(results[i].dump());
    EXPECT_EQ(results[i]["error"]["code"], expected[i].first);
    EXPECT_THAT(results[i]["error"]["message"].get<std::string>(), HasSubstr(expected[i].second));
  }
  EXPECT_EQ(results.back()["ids"].size(), 2u);
}

TEST(Generate, HonoursStopSeedLogprobsAndN) {
  const auto results = run_lines(
      kGenerate,
      {{{"prompt", "The capital of France is"}, {"stop", {"The answer", "\n\nThe"}}},
       {{"prompt", ""}, {"max_new_tokens", 1}},
       {{"prompt", "The capital of France is"}, {"logprobs", 3}, {"max_new_tokens", 2}},
       {{"prompt", "Once"}, {"temperature", 1.5}, {"seed", 4}, {"n", 3}, {"max_new_tokens", 6}},
       {{"prompt", "Once"}, {"temperature", 1.5}, {"seed", 4}, {"n", 3}, {"max_new_tokens", 6}}});
  EXPECT_EQ(results[0]["text"], " Paris.");
  EXPECT_EQ(results[0]["stop"], "\n\nThe");
  EXPECT_EQ(results[0]["finish_reason"], "stop");
  EXPECT_EQ(results[1]["usage"]["prompt_tokens"], 1);  // BOS
  const json& logprobs = results[2]["logprobs"];
  ASSERT_EQ(logprobs.size(), 2u);
  ASSERT_EQ(logprobs[0].size(), 3u);
  EXPECT_EQ(logprobs[0][0][0], 7042);
  EXPECT_EQ(logprobs[0][0][1], results[2]["chosen_logprobs"][0]);
  ASSERT_EQ(results[3]["choices"].size(), 3u);
  EXPECT_NE(results[3]["choices"][0]["ids"], results[3]["choices"][1]["ids"]);
  EXPECT_EQ(results[3]["choices"], results[4]["choices"]);
  EXPECT_EQ(results[3]["ids"], results[3]["choices"][0]["ids"]);
  EXPECT_EQ(results[3]["usage"]["completion_tokens"], 18);
}

TEST(Logits, EqualTransformers) {
  std::vector<json> lines;
  for (const json& row : smollm2_reference()["greedy"]) {
    lines.push_back({{"ids", row["ids"]}, {"top", 5}});
  }
  lines.push_back({{"ids", {1}}, {"top", "all"}});
  const auto results = run_lines({"logits", "smollm2", "--dtype", "f32"}, lines);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const json& expected = smollm2_reference()["greedy"][i]["top5"];
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_EQ(results[i]["logits"][k][0], expected[k][0]);
      EXPECT_NEAR(results[i]["logits"][k][1].get<double>(), expected[k][1].get<double>(), 2e-3);
    }
  }
  EXPECT_EQ(results.back()["logits"].size(), 49152u);
}

TEST(Chat, AnswersLinesAndObeysCommands) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "chat.quire";
  const ProgramOutcome outcome =
      run_program({"chat", "smollm2", "--dtype", "f32", "--temperature", "0"},
                  "What is the capital of France?\n/fork\nAnd its population?\n/stats\n/back\n"
                  "/save " +
                      file + "\n/reset\n/stats\n/load " + file + "\n/stats\n/load " + file + "x\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("The capital of France is Paris.\n"));
  EXPECT_THAT(outcome.out, HasSubstr("4 messages, 66 tokens in the cache"));
  EXPECT_THAT(outcome.out, HasSubstr("last answer: 44 of 59 prompt tokens from the cache, 8 new"));
  const std::size_t emptied = outcome.out.find("0 messages, 0 tokens in the cache");
  ASSERT_NE(emptied, std::string::npos);
  EXPECT_THAT(outcome.out.substr(emptied), HasSubstr("2 messages, 44 tokens in the cache"));
  EXPECT_THAT(outcome.err, StartsWith("error: NotFound: " + file + "x"));
}

}  // namespace
}  // namespace quire::test
