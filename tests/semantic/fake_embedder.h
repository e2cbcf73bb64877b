// SPDX-License-Identifier: Apache-2.0
// An embedder for tests of the cache: words as random directions, so that texts with common words
// are near. Texts may ask for trouble.
#pragma once

#include <quire/embedder.h>
#include <quire/error.h>

#include <atomic>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace quire::testing {

class FakeEmbedder final : public Embedder {
 public:
  explicit FakeEmbedder(std::int64_t dimension = 32) : dimension_(dimension) {}

  std::int64_t dimension() const override { return dimension_; }
  std::string name() const override { return "fake"; }

  std::vector<float> embed(std::string_view text) const override {
    ++calls;
    std::vector<float> sum(static_cast<std::size_t>(dimension_));
    if (text.find("NAN") != std::string_view::npos) {
      sum[0] = std::numeric_limits<float>::quiet_NaN();
      return sum;
    }
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      std::minstd_rand random(static_cast<unsigned>(std::hash<std::string>()(word)));
      std::normal_distribution<float> normal;
      for (float& value : sum) value += normal(random);
    }
    return sum;
  }

  Embedding embed_in_detail(std::string_view text) const override {
    Embedding result;
    result.values = embed(text);
    if (text.find("UNKNOWN") != std::string_view::npos) result.unknown_tokens = 1;
    if (text.find("LONG") != std::string_view::npos) result.truncated = true;
    return result;
  }

  mutable std::atomic<int> calls{0};

 private:
  std::int64_t dimension_;
};

}  // namespace quire::testing
