// SPDX-License-Identifier: Apache-2.0
// What the tests of sentence encoders share: models on disk with reference outputs.
#pragma once

#include <gtest/gtest.h>
#include <quire/embedder.h>
#include <quire/error.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/json.h"

namespace quire::testing {

inline const std::filesystem::path kEncoders = std::filesystem::path(QUIRE_TEST_DATA) / "encoders";

// Folders of tests/data/encoders that have a golden.json.
inline std::vector<std::string> encoder_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kEncoders)) {
    if (std::filesystem::exists(entry.path() / "golden.json")) {
      names.push_back(entry.path().filename().native());
    }
  }
  return names;
}

inline Json golden(const std::string& name) {
  return read_json_file(kEncoders / name / "golden.json");
}

inline void expect_near(const std::vector<float>& actual, const Json& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(actual[i]), expected[i].get<double>(), tolerance) << i;
  }
}

}  // namespace quire::testing
