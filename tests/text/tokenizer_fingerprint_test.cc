// SPDX-License-Identifier: Apache-2.0
// What tells tokenizers apart in files: gaps in a vocabulary count too.
#include "text/tokenizer_fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/formats/model_files.h"

namespace quire {
namespace {

// An application's tokenizer: a vocabulary with gaps, whose second token is special.
class Pieces final : public Tokenizer {
 public:
  explicit Pieces(std::vector<std::optional<std::string>> pieces,
                  ErrorCode at_gaps = ErrorCode::kInvalidArgument)
      : pieces_(std::move(pieces)), at_gaps_(at_gaps) {}

  TokenIds encode(std::string_view, EncodeOptions) const override { return {0, 1}; }
  std::string decode(std::span<const TokenId>, DecodeOptions) const override { return {}; }
  std::string token(TokenId id) const override {
    const auto& piece = pieces_.at(static_cast<std::size_t>(id));
    if (!piece) throw Error(at_gaps_, "pieces", "nothing there");
    return *piece;
  }
  std::optional<TokenId> id_of(std::string_view) const override { return std::nullopt; }
  bool is_special(TokenId id) const override { return id == 1; }
  std::size_t vocab_size() const override { return pieces_.size(); }
  std::optional<TokenId> bos() const override { return std::nullopt; }
  std::vector<TokenId> eos() const override { return {}; }
  std::optional<TokenId> unk() const override { return std::nullopt; }
  bool adds_bos() const override { return false; }
  std::string_view kind() const override { return "made up"; }

 private:
  std::vector<std::optional<std::string>> pieces_;
  ErrorCode at_gaps_;
};

// Files that were written before hold this one: XXH3-128 of "made up1:a 1:bs0 1 0 1 ".
TEST(TokenizerFingerprint, StaysTheSame) {
  EXPECT_EQ(fingerprint_of(Pieces({"a", "b"})), "1affab11f7bf6859f753d7bd6c3fea9e");
}

TEST(TokenizerFingerprint, AGapIsNotAnEmptyToken) {
  const std::string gap = fingerprint_of(Pieces({"a", "b", std::nullopt, "c"}));
  EXPECT_NE(gap, fingerprint_of(Pieces({"a", "b", "", "c"})));
  EXPECT_NE(gap, fingerprint_of(Pieces({"a", "b", "c"})));
  EXPECT_NE(gap, fingerprint_of(Pieces({"a", "b", "c", std::nullopt})));
  EXPECT_EQ(gap, fingerprint_of(Pieces({"a", "b", std::nullopt, "c"})));
}

TEST(TokenizerFingerprint, OtherErrorsAreNoGaps) {
  EXPECT_THAT(error_of([] {
                fingerprint_of(Pieces({"a", std::nullopt}, ErrorCode::kIo));
              }),
              ::testing::HasSubstr("nothing there"));
}

TEST(TokenizerFingerprint, OfAGgufVocabularyWithAnEmptyEntry) {
  GgufBuilder file;
  file.text("tokenizer.ggml.model", "llama");
  file.array("tokenizer.ggml.tokens", GgufType::kString, 3,
             gguf_string("a") + gguf_string("") + gguf_string("b"));
  file.array("tokenizer.ggml.scores", GgufType::kFloat32, 3, std::string(12, '\0'));
  const TestFolder folder;
  const auto tokenizer = Tokenizer::load(folder.write("a.gguf", file.build()));
  ASSERT_THAT(error_of([&] { tokenizer->token(1); }), ::testing::HasSubstr("is a gap"));
  EXPECT_EQ(fingerprint_of(*tokenizer).size(), 32u);
}

}  // namespace
}  // namespace quire
