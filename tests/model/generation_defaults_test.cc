// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The tiny llama with a generation config, and config keys of its own.
class Defaults : public ::testing::Test {
 protected:
  GenerationDefaults read(const char* generation_config, const Json& config_changes = {}) {
    Json config = read_json_file(kModels / "llama" / "config.json");
    config.update(config_changes.is_null() ? Json::object() : config_changes);
    copy_model(kModels / "llama", scratch_.path(), config);
    std::filesystem::remove(scratch_.path() / "generation_config.json");
    if (generation_config != nullptr) {
      write_file(scratch_.path() / "generation_config.json", generation_config);
    }
    return load(scratch_.path())->generation_defaults();
  }

  ScratchFolder scratch_;
};

TEST_F(Defaults, AreGreedyWithTheConfigsEos) {
  const GenerationDefaults defaults = read(nullptr);
  EXPECT_FALSE(defaults.do_sample);
  EXPECT_EQ(defaults.sampling.temperature, 0);
  EXPECT_THAT(defaults.eos, ElementsAre(2));
}

TEST_F(Defaults, GenerationConfigComesBeforeConfig) {
  const GenerationDefaults defaults = read(
      R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0.1,
          "repetition_penalty": 1.1, "eos_token_id": [7, 9], "zz": {}})");
  EXPECT_TRUE(defaults.do_sample);
  EXPECT_EQ(defaults.sampling.temperature, 0.6f);
  EXPECT_EQ(defaults.sampling.top_k, 20);
  EXPECT_EQ(defaults.sampling.top_p, 0.95f);
  EXPECT_EQ(defaults.sampling.min_p, 0.1f);
  EXPECT_EQ(defaults.sampling.repetition_penalty, 1.1f);
  EXPECT_THAT(defaults.eos, ElementsAre(7, 9));
}

TEST_F(Defaults, SamplingHasTransformersDefaults) {
  const GenerationDefaults defaults = read(R"({"do_sample": true, "temperature": null})");
  EXPECT_EQ(defaults.sampling.temperature, 1);
  EXPECT_EQ(defaults.sampling.top_k, 50);
  EXPECT_EQ(defaults.sampling.top_p, 1);
  EXPECT_THAT(defaults.eos, ElementsAre(2));
}

TEST_F(Defaults, WithoutDoSampleOnlyThePenaltyCounts) {
  const GenerationDefaults defaults =
      read(R"({"temperature": 0.6, "top_k": 20, "repetition_penalty": 1.2})");
  EXPECT_EQ(defaults.sampling.temperature, 0);
  EXPECT_EQ(defaults.sampling.top_k, 0);
  EXPECT_EQ(defaults.sampling.repetition_penalty, 1.2f);
}

TEST_F(Defaults, OldConfigsHoldThemThemselves) {
  const GenerationDefaults defaults =
      read(nullptr, {{"do_sample", true}, {"temperature", 0.5}, {"eos_token_id", {3, 4}}});
  EXPECT_EQ(defaults.sampling.temperature, 0.5f);
  EXPECT_THAT(defaults.eos, ElementsAre(3, 4));
}

TEST_F(Defaults, WrongValuesAreNamed) {
  for (const char* text :
       {R"({"do_sample": "yes"})", R"({"do_sample": true, "temperature": -1})",
        R"({"do_sample": true, "top_p": 1.5})", R"({"do_sample": true, "top_k": 2.5})",
        R"({"eos_token_id": "</s>"})", R"({"eos_token_id": [-3]})", R"({"repetition_penalty": 0})",
        "[]", "{"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(error_of([&] { read(text); }), HasSubstr("generation_config.json"));
  }
}

}  // namespace
}  // namespace quire
