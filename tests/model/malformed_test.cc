// SPDX-License-Identifier: Apache-2.0
// Broken models, and odd but valid ones: loading and inspecting refuse the same, in a sentence that
// names what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/inspect.h>

#include <algorithm>
#include <cctype>

#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;
using ::testing::HasSubstr;

const std::filesystem::path kConfigs = std::filesystem::path(QUIRE_TEST_DATA) / "malformed_config";
const std::filesystem::path kFiles = std::filesystem::path(QUIRE_TEST_DATA) / "malformed";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Checks every entry of a folder's manifest; returns how many were refused and how many loaded.
std::pair<int, int> check_manifest(const std::filesystem::path& folder) {
  int refused = 0;
  int loaded = 0;
  for (const Json& entry : read_json_file(folder / "manifest.json")) {
    const std::string kind = entry.value("kind", "config");
    const std::filesystem::path path = folder / entry.at("path").get<std::string>();
    // Tokenizers and templates that stand alone are others' to check.
    const bool stands_alone = kind == "tokenizer" || kind == "template";
    if (stands_alone && !std::filesystem::exists(path / "config.json")) continue;
    SCOPED_TRACE(path.filename().native() + ": " + entry.at("what").get<std::string>());
    const std::string on_load = error_of([&] { Model::load(path, {.threads = 1}); });
    const std::string on_inspect = error_of([&] { inspect(path); });
    EXPECT_EQ(on_load, on_inspect);
    if (entry.at("expect") == "ok") {
      EXPECT_EQ(on_load, "no error");
      ++loaded;
      continue;
    }
    EXPECT_NE(on_load, "no error");
    EXPECT_THAT(on_load, HasSubstr(path.filename().native()));
    if (entry.at("must_mention").is_string()) {
      EXPECT_THAT(lower(on_load), HasSubstr(lower(entry.at("must_mention").get<std::string>())));
    }
    ++refused;
  }
  return {refused, loaded};
}

TEST(Malformed, Configs) {
  const auto [refused, loaded] = check_manifest(kConfigs);
  EXPECT_GT(refused, 70);
  EXPECT_GT(loaded, 20);
}

TEST(Malformed, Files) {
  const auto [refused, loaded] = check_manifest(kFiles);
  EXPECT_GT(refused, 150);
  EXPECT_GT(loaded, 40);
}

TEST(Malformed, NotANumberEndsAPassAndLeavesTheCacheAsItWas) {
  for (const char* name : {"safetensors/ok-weights-nan", "gguf/ok-scale-nan.gguf"}) {
    SCOPED_TRACE(name);
    const auto model = load(kFiles / name);
    DynamicCache cache(model->kv_spec());
    TokenIds ids(static_cast<std::size_t>(model->config().vocab_size));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(i);
    EXPECT_THAT(error_of([&] { last_logits(*model, ids, 0, cache); }), HasSubstr("NaN"));
    EXPECT_EQ(cache.length(), 0);
  }
}

TEST(Malformed, MissingPaths) {
  EXPECT_THAT(error_of([] { Model::load("/nonexistent/model"); }), HasSubstr("/nonexistent/model"));
  EXPECT_THAT(error_of([] { inspect("/nonexistent/model.gguf"); }),
              HasSubstr("/nonexistent/model.gguf"));
}

}  // namespace
}  // namespace quire
