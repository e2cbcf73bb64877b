// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kModel = QUIRE_TEST_DATA "/models/llama-q4_k_m-mixture.gguf";

// A program of that name that is found first on PATH.
void write_script(const std::filesystem::path& path, const std::string& text) {
  write_file(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

json bench(std::vector<std::string> arguments, const std::vector<std::string>& variables = {}) {
  arguments.insert(arguments.begin(), {"bench", kModel, "--json"});
  const ProgramOutcome outcome = run_program(arguments, "", variables);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return json::parse(outcome.out);
}

TEST(Bench, MeasuresWhatTheContextHasRoomFor) {
  const json report = bench({"--prefixes", "32,64,5000", "--repeats", "1", "--no-peers"});
  EXPECT_EQ(report["context"], 256);
  EXPECT_EQ(report["prefill"]["tokens"], 255);
  EXPECT_EQ(report["decode"]["tokens"], 64);
  EXPECT_GT(report["prefill"]["tokens_per_s"], 0.0);
  EXPECT_GT(report["decode"]["tokens_per_s"], 0.0);
  EXPECT_EQ(report["peers"], json::array());

  const json& ttft = report["ttft"];
  ASSERT_EQ(ttft.size(), 3U);
  const std::int64_t prefixes[] = {32, 64, 247};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ttft[i]["prefix"], prefixes[i]);
    EXPECT_EQ(ttft[i]["cached_tokens"], prefixes[i]);  // of the warm run: all that can be known
    EXPECT_GT(ttft[i]["cold_ms"], 0.0);
    EXPECT_GT(ttft[i]["warm_ms"], 0.0);
  }
  EXPECT_EQ(report["fork"]["tokens"], 247);
  EXPECT_GT(report["fork"]["fork_us"], 0.0);
  const json& snapshot = report["snapshot"];
  EXPECT_EQ(snapshot["tokens"], 247);
  for (const char* key : {"bytes", "freeze_us", "save_ms", "load_ms", "load_verify_on_use_ms"}) {
    EXPECT_GT(snapshot[key], 0) << key;
  }
}

TEST(Bench, CountsBytesOfEveryCache) {
  const json model = run_lines({"inspect"}, {{{"path", kModel}}})[0];
  const double full = model["memory"]["kv_per_token"];
  const json report = bench({"--prefixes", "192", "--repeats", "1", "--no-peers"});
  std::map<std::string, double> bytes;
  for (const json& row : report["kv_bytes_per_token"]) {
    EXPECT_EQ(row["tokens"], 192);
    bytes[row["kv"].get<std::string>() + (row.contains("nbits") ? row["nbits"].dump() : "")] =
        row["bytes_per_token"];
  }
  EXPECT_EQ(bytes["dynamic"], full);  // six whole pages
  EXPECT_EQ(bytes["static"], full);
  EXPECT_LT(bytes["quantized8"], full);
  EXPECT_LT(bytes["quantized4"], bytes["quantized8"]);
  EXPECT_LT(bytes["quantized2"], bytes["quantized4"]);
  EXPECT_LT(bytes["sliding"], full);
}

TEST(Bench, ShowsATable) {
  const ProgramOutcome outcome =
      run_program({"bench", kModel, "--prefixes", "64", "--repeats", "1", "--no-peers"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* part :
       {"prefill", "decode", "prefix known", "    64 tokens", "fork of 64 tokens",
        "snapshot: frozen in", "quantized, 4 bits", "sliding, window 16"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST(Bench, MeasuresPeersThatAreThere) {
  const TemporaryFolder folder;
  // What llama-bench writes for one test, shortened; its arguments come back as its rates.
  write_script(folder.path() / "llama-bench",
               "echo loading >&2\n"
               "echo '[{\"build_number\": 4242, \"model_type\": \"llama 1B Q4_1\", "
               "\"avg_ts\": '$((1000 * $4 + $6))'.5}]'\n");
  write_script(folder.path() / "python3", "exit 1\n");
  const std::string path = "PATH=" + folder.path().string() + ":" + std::getenv("PATH");
  const json report = bench({"--repeats", "1", "--prefill", "32", "--new-tokens", "8"}, {path});
  ASSERT_EQ(report["peers"].size(), 1U);
  EXPECT_EQ(report["peers"][0], json({{"name", "llama.cpp"},
                                      {"version", "b4242"},
                                      {"weights", "llama 1B Q4_1"},
                                      {"prefill_tokens_per_s", 32000.5},
                                      {"decode_tokens_per_s", 8.5}}));
}

TEST(Bench, LeavesOutPeersThatFail) {
  const TemporaryFolder folder;
  write_script(folder.path() / "llama-bench", "echo '[{\"avg_ts\": 1}]'\nexit 1\n");
  write_script(folder.path() / "python3", "echo no json\n");
  const std::string path = "PATH=" + folder.path().string() + ":" + std::getenv("PATH");
  EXPECT_EQ(bench({"--repeats", "1", "--prefill", "8", "--new-tokens", "8"}, {path})["peers"],
            json::array());
}

TEST(Bench, RefusesLengthsThatAreNone) {
  const ProgramOutcome outcome = run_program({"bench", kModel, "--prefixes", "0", "--no-peers"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("error: InvalidArgument: --prefixes: "));
}

}  // namespace
}  // namespace quire::test
