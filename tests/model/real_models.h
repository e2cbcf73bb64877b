// SPDX-License-Identifier: Apache-2.0
// The models that `quire pull` fetches.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/json.h"

namespace quire::testing {

// A file of a pulled model; throws, saying how to get it, when it is not there.
inline std::filesystem::path packaged(const std::string& name, const std::string& file) {
  const char* home = std::getenv("QUIRE_HOME");
  const char* user = std::getenv("HOME");
  const std::filesystem::path root =
      home != nullptr ? std::filesystem::path(home)
                      : std::filesystem::path(user != nullptr ? user : "") / ".cache" / "quire";
  const std::filesystem::path path = root / "models" / name / file;
  if (!std::filesystem::exists(path)) {
    throw std::runtime_error(path.native() + " is missing: run `quire pull " + name + "`");
  }
  return path;
}

// `top`: pairs of id and logit, largest first.
inline void expect_top(const std::vector<float>& logits, const Json& top, double tolerance) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = static_cast<std::ptrdiff_t>(top.size());
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  for (std::size_t i = 0; i < top.size(); ++i) {
    EXPECT_EQ(order[i], top[i][0].get<std::size_t>());
    EXPECT_NEAR(static_cast<double>(logits[order[i]]), top[i][1].get<double>(), tolerance);
  }
}

}  // namespace quire::testing
