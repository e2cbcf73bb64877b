// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/cli/run_program.h"

namespace quire::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

// Two texts in turn, of two blocks each, and now and then a new one.
std::string trace() {
  std::string lines;
  for (int i = 0; i < 30; ++i) {
    const int first = i % 5 == 4 ? 100 + 2 * i : 10 * (i % 2);
    lines += json{{"hash_ids", {first, first + 1}}, {"input_length", 32}}.dump() + "\n";
  }
  return lines;
}

TEST(Replay, CountsWhatIsFound) {
  const TemporaryFolder folder;
  write_file(folder.path() / "trace.jsonl", trace());
  const ProgramOutcome outcome =
      run_program({"replay", folder.file("trace.jsonl"), "--capacity", "4,1000", "--policy",
                   "lru,optimal", "--block-size", "16", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["requests"], 30);
  EXPECT_EQ(result["blocks"], 60);
  // 24 of the 30 requests are one of two texts, and each of these was new once.
  EXPECT_DOUBLE_EQ(result["infinite"], 44.0 / 60);
  ASSERT_EQ(result["results"].size(), 4U);
  EXPECT_DOUBLE_EQ(result["results"][1]["hit_ratio"], 44.0 / 60);
  EXPECT_LT(result["results"][0]["hit_ratio"], result["results"][2]["hit_ratio"]);
}

TEST(Replay, Pictures) {
  const TemporaryFolder folder;
  write_file(folder.path() / "trace.jsonl", trace());
  const ProgramOutcome outcome = run_program(
      {"replay", folder.file("trace.jsonl"), "--capacity", "1000,4", "--policy", "lru,optimal",
       "--plot", folder.file("hits.svg"), "--plot-time", folder.file("time.svg")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string hits = read_file(folder.path() / "hits.svg");
  EXPECT_THAT(hits, AllOf(StartsWith("<svg "), EndsWith("</svg>\n"), HasSubstr(">optimal<")));
  EXPECT_EQ(count(hits, "<polyline"), 2U);
  const std::string time = read_file(folder.path() / "time.svg");
  EXPECT_THAT(time, AllOf(StartsWith("<svg "), EndsWith("</svg>\n")));
  EXPECT_EQ(count(time, "<polygon"), 4U) << "two capacities, evicted, new";
  EXPECT_LT(time.find(">among 4<"), time.find(">among 1000<")) << "the smaller one first";
  EXPECT_LT(time.find(">among 1000<"), time.find(">computed: new<"));
}

TEST(Replay, RefusesWhatItCannotWrite) {
  const TemporaryFolder folder;
  write_file(folder.path() / "trace.jsonl", trace());
  for (const char* option : {"--plot", "--plot-time"}) {
    const ProgramOutcome outcome = run_program(
        {"replay", folder.file("trace.jsonl"), option, folder.file("no/such/folder.svg")});
    EXPECT_NE(outcome.status, 0);
    EXPECT_THAT(outcome.err, HasSubstr("folder.svg"));
  }
}

}  // namespace
}  // namespace quire::test
