// SPDX-License-Identifier: Apache-2.0
// all-MiniLM-L6-v2 against transformers. Needs `quire pull minilm`.
#include "tests/semantic/minilm.h"

#include <algorithm>
#include <numeric>

#include "tests/semantic/encoders.h"

namespace quire {
namespace {

constexpr double kTolerance = 1e-4;

const Json& reference() {
  static const Json json =
      read_json_file(std::filesystem::path(QUIRE_TEST_DATA) / "smollm2" / "smollm2.json");
  return json;
}

TEST(MiniLm, EqualsTransformers) {
  const auto embedder = Embedder::load(testing::minilm_path());
  EXPECT_EQ(embedder->dimension(), 384);
  const Json& rows = reference()["embeddings"];
  ASSERT_EQ(rows.size(), 14U);
  for (const Json& row : rows) {
    const auto text = row["text"].get<std::string>();
    SCOPED_TRACE(text);
    const Embedding embedding = embedder->embed_in_detail(text);
    EXPECT_EQ(embedding.ids, row["ids"].get<TokenIds>());
    testing::expect_near({embedding.values.begin(), embedding.values.begin() + 8}, row["first8"],
                         kTolerance);
    const float squares = std::inner_product(embedding.values.begin(), embedding.values.end(),
                                             embedding.values.begin(), 0.0F);
    EXPECT_NEAR(static_cast<double>(squares), 1, 1e-5);
    EXPECT_EQ(embedding.unknown_tokens, std::ranges::count(embedding.ids, 100));
  }
}

TEST(MiniLm, CosinesEqualTransformers) {
  const auto embedder = Embedder::load(testing::minilm_path());
  for (const Json& row : reference()["pairs"]) {
    const std::vector<std::string> texts = {row["a"], row["b"]};
    SCOPED_TRACE(texts[0] + " / " + texts[1]);
    const auto vectors = embedder->embed_batch(texts);
    const float cosine =
        std::inner_product(vectors[0].begin(), vectors[0].end(), vectors[1].begin(), 0.0F);
    EXPECT_NEAR(static_cast<double>(cosine), row["cosine"].get<double>(), kTolerance);
  }
}

}  // namespace
}  // namespace quire
