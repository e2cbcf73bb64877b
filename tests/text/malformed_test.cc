// SPDX-License-Identifier: Apache-2.0
// Walks tests/data/malformed/tokenizer: broken tokenizers and odd but valid ones, with a manifest
// that says which is which and what a helpful message mentions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/tokenizer.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <string>

#include "io/json.h"
#include "io/read_file.h"
#include "tests/text/tokenizer_files.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kFolder =
    std::filesystem::path(QUIRE_TEST_DATA) / "malformed" / "tokenizer";

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Loads a tokenizer and encodes its probe: the error may come as late as that.
void load_and_probe(const std::filesystem::path& path) {
  const auto tokenizer = Tokenizer::load(path);
  if (const auto probe = path / "probe.txt"; std::filesystem::exists(probe)) {
    tokenizer->encode(read_file(probe));
  }
}

TEST(MalformedTokenizer, EachIsRefusedOrLoadedAsTheManifestSays) {
  int refused = 0;
  int loaded = 0;
  for (const Json& entry : read_json_file(kFolder / "manifest.json")) {
    const auto path = entry.at("path").get<std::string>();
    SCOPED_TRACE(path + ": " + entry.at("what").get<std::string>());
    const auto begin = std::chrono::steady_clock::now();
    const std::string error = error_of([&] { load_and_probe(kFolder / path); });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    if (entry.at("expect") == "ok") {
      EXPECT_EQ(error, "no error");
      ++loaded;
      continue;
    }
    EXPECT_NE(error, "no error");
    if (entry.at("must_mention").is_string()) {
      EXPECT_THAT(lower(error), HasSubstr(lower(entry.at("must_mention").get<std::string>())));
    }
    ++refused;
  }
  EXPECT_GT(refused, 60);
  EXPECT_GE(loaded, 18);
}

}  // namespace
}  // namespace quire
