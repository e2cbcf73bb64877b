// SPDX-License-Identifier: Apache-2.0
// Cosines and sines of every rope scaling against transformers': tests/data/models/rope.json.
#include "model/rope.h"

#include <gtest/gtest.h>

#include "model/config_reader.h"
#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;

TEST(Rope, EqualsTransformersForEveryScalingAndLength) {
  int cases = 0;
  for (const Json& entry : read_json_file(kModels / "rope.json")) {
    const JsonObject object(entry.at("config"), "rope.json");
    const Family& family = *find_family(object.string("model_type"));
    SCOPED_TRACE(entry.at("config").dump());
    ModelConfig config = config_of(family);
    config.context = object.integer("max_position_embeddings");
    config.head_dim = object.integer("head_dim");
    parse_hf_rope(object, family, config);
    const Rope rope(config.rope);
    const auto half = static_cast<std::size_t>(rope.dims() / 2);
    for (const Json& row : entry.at("rows")) {
      SCOPED_TRACE(row.at("position").dump() + " of " + row.at("length").dump());
      std::vector<float> cos(half);
      std::vector<float> sin(half);
      rope.fill(row.at("position"), 1, row.at("length"), cos.data(), sin.data());
      // Angles of thousands of radians: one unit in the last place of a frequency shows.
      const double tolerance = 1e-6 + 2.5e-7 * row.at("position").get<double>();
      const auto expected_cos = row.at("cos").get<std::vector<double>>();
      const auto expected_sin = row.at("sin").get<std::vector<double>>();
      ASSERT_EQ(expected_cos.size(), half);
      for (std::size_t i = 0; i < half; ++i) {
        EXPECT_NEAR(static_cast<double>(cos[i]), expected_cos[i], tolerance);
        EXPECT_NEAR(static_cast<double>(sin[i]), expected_sin[i], tolerance);
      }
      ++cases;
    }
  }
  EXPECT_GT(cases, 30);
}

TEST(Rope, FillsConsecutivePositions) {
  RopeConfig config;
  config.dims = 8;
  const Rope rope(config);
  std::vector<float> cos(12);
  std::vector<float> sin(12);
  rope.fill(5, 3, 8, cos.data(), sin.data());
  for (std::int64_t i = 0; i < 3; ++i) {
    std::vector<float> one_cos(4);
    std::vector<float> one_sin(4);
    rope.fill(5 + i, 1, 100, one_cos.data(), one_sin.data());
    EXPECT_TRUE(std::equal(one_cos.begin(), one_cos.end(), cos.begin() + i * 4));
    EXPECT_TRUE(std::equal(one_sin.begin(), one_sin.end(), sin.begin() + i * 4));
  }
}

}  // namespace
}  // namespace quire
