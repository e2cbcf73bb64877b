// SPDX-License-Identifier: Apache-2.0
// Every kind of tokenizer against what Hugging Face tokenizers and sentencepiece give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/tokenizer.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/json.h"
#include "tests/text/tokenizer_files.h"
#include "text/utf8.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

// Ids, ids with special tokens, pieces, text, and text of a stream.
void expect_case(const std::shared_ptr<const Tokenizer>& tokenizer, const Json& entry,
                 const char* special_key) {
  const auto text = entry.at("text").get<std::string>();
  SCOPED_TRACE(text);
  const TokenIds ids = tokenizer->encode(text);
  EXPECT_EQ(ids, entry.at("ids").get<TokenIds>());
  EXPECT_EQ(tokenizer->encode(text, {.add_special = true}), entry.at(special_key).get<TokenIds>());
  EXPECT_EQ(tokenizer->decode(ids), entry.at("decoded").get<std::string>());
  EXPECT_EQ(streamed(tokenizer, ids), tokenizer->decode(ids));
  if (!entry.contains("tokens")) return;
  const auto tokens = entry.at("tokens").get<std::vector<std::string>>();
  const std::vector<std::string> pieces = tokenizer->pieces(text);
  ASSERT_EQ(pieces.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(pieces[i], tokens[i]);
    EXPECT_EQ(tokenizer->id_of(tokenizer->token(ids[i])), ids[i]);
  }
}

class GoldenTokenizer : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTokenizer, EncodesAndDecodesAsTheReference) {
  const std::filesystem::path folder = tokenizer_data() / GetParam();
  const auto tokenizer = Tokenizer::load(folder);
  const Json golden = read_json_file(folder / "golden.json");
  ASSERT_GE(golden.at("cases").size(), 70U);
  for (const Json& entry : golden.at("cases")) expect_case(tokenizer, entry, "ids_special");
}

INSTANTIATE_TEST_SUITE_P(All, GoldenTokenizer,
                         ::testing::Values("bytelevel-added", "bytelevel-digits", "bytelevel-gpt2",
                                           "bytelevel-llama3", "bytelevel-prefix-space",
                                           "bytelevel-qwen2", "metaspace-bpe-llama2",
                                           "sentencepiece-bpe-llama", "sentencepiece-unigram-nfkc",
                                           "unigram-xlmr", "wordpiece-cased", "wordpiece-uncased"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

// Each normalizer, pre-tokenizer, decoder, model option and added-token flag, one at a time.
TEST(Components, EachDoesWhatTheReferenceDoes) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / "quire_components";
  std::filesystem::create_directories(folder);
  int tried = 0;
  for (const Json& entry : read_json_file(tokenizer_data() / "components.json")) {
    SCOPED_TRACE(entry.at("name").get<std::string>());
    Json file =
        read_json_file(tokenizer_data() / entry.at("base").get<std::string>() / "tokenizer.json");
    for (const auto& [key, value] : entry.at("change").items()) {
      if (key == "model") {
        file[key].update(value);
      } else {
        file[key] = value;
      }
    }
    std::ofstream(folder / "tokenizer.json") << file;
    const auto tokenizer = Tokenizer::load(folder);
    for (const Json& each : entry.at("cases")) expect_case(tokenizer, each, "special");
    ++tried;
  }
  EXPECT_GT(tried, 200);
  std::filesystem::remove_all(folder);
}

TEST(GgufTokenizer, SmolLm2EncodesAsTheReference) {
  const auto file = pulled_model("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf");
  ASSERT_TRUE(std::filesystem::exists(file)) << "run: quire pull smollm2";
  const auto tokenizer = Tokenizer::load(file);
  const Json golden =
      read_json_file(std::filesystem::path(QUIRE_TEST_DATA) / "smollm2" / "smollm2.json");
  for (const Json& entry : golden.at("tokenizer")) {
    const auto text = entry.at("text").get<std::string>();
    SCOPED_TRACE(text);
    const TokenIds ids = tokenizer->encode(text);
    EXPECT_EQ(ids, entry.at("ids").get<TokenIds>());
    EXPECT_EQ(tokenizer->decode(ids), entry.at("decoded").get<std::string>());
    EXPECT_EQ(streamed(tokenizer, ids), tokenizer->decode(ids));
  }
  EXPECT_EQ(tokenizer->eos(), TokenIds{2});
  EXPECT_FALSE(tokenizer->adds_bos());
  EXPECT_TRUE(tokenizer->is_special(2));
}

TEST(Options, SpecialTokensInTextArePlainTextOnRequest) {
  const auto tokenizer = Tokenizer::load(tokenizer_data() / "bytelevel-gpt2");
  const TokenId end = tokenizer->id_of("<|im_end|>").value();
  EXPECT_EQ(tokenizer->encode("<|im_end|>"), TokenIds{end});
  const TokenIds plain = tokenizer->encode("<|im_end|>", {.parse_special = false});
  EXPECT_THAT(plain, ::testing::Not(::testing::Contains(end)));
  EXPECT_EQ(tokenizer->decode(plain), "<|im_end|>");
  EXPECT_EQ(tokenizer->decode(TokenIds{end}, {.skip_special = true}), "");
}

TEST(Options, NoModelTurnsPlainTextIntoASpecialToken) {
  for (const char* name : {"unigram-xlmr", "wordpiece-cased", "metaspace-bpe-llama2"}) {
    const auto tokenizer = Tokenizer::load(tokenizer_data() / name);
    for (const char* piece : {"<s>", "</s>", "[CLS]", "<pad>"}) {
      const auto id = tokenizer->id_of(piece);
      if (!id) continue;
      const TokenIds ids = tokenizer->encode("x" + std::string(piece), {.parse_special = false});
      EXPECT_THAT(ids, ::testing::Not(::testing::Contains(*id))) << name << piece;
      EXPECT_THAT(tokenizer->encode(piece), ::testing::Contains(*id)) << name << piece;
    }
  }
}

TEST(Bytes, IllFormedUtf8IsReadAsReplacementCharacters) {
  const auto tokenizer = Tokenizer::load(tokenizer_data() / "bytelevel-gpt2");
  EXPECT_EQ(tokenizer->encode("a\xFFz\xE4\xBD"), tokenizer->encode("a\uFFFDz\uFFFD"));
  EXPECT_EQ(tokenizer->encode("\xED\xA0\x80"), tokenizer->encode("\uFFFD\uFFFD\uFFFD"));
}

TEST(Bytes, EveryCharacterComesBackFromByteLevelTokenizers) {
  for (const char* name : {"bytelevel-gpt2", "bytelevel-llama3", "bytelevel-digits"}) {
    const auto tokenizer = Tokenizer::load(tokenizer_data() / name);
    std::string text;
    for (char32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 397) {
      if (c < 0xD800 || c >= 0xE000) {
        text += " a";
        append_utf8(text, c);
      }
    }
    const TokenIds ids = tokenizer->encode(text);
    EXPECT_EQ(tokenizer->decode(ids), text) << name;
    EXPECT_EQ(streamed(tokenizer, ids), text) << name;
  }
}

TEST(Streaming, AnyIdsInAnySplitGiveTheWholeText) {
  for (const auto& entry : std::filesystem::directory_iterator(tokenizer_data())) {
    if (!entry.is_directory()) continue;
    const auto tokenizer = Tokenizer::load(entry.path());
    std::srand(7);
    for (int round = 0; round < 200; ++round) {
      TokenIds ids;
      for (int i = std::rand() % 40; i > 0; --i) {
        ids.push_back(std::rand() % static_cast<int>(tokenizer->vocab_size()));
      }
      for (const bool skip : {false, true}) {
        EXPECT_EQ(streamed(tokenizer, ids, {.skip_special = skip}),
                  tokenizer->decode(ids, {.skip_special = skip}))
            << entry.path();
      }
    }
  }
}

TEST(Errors, IdsOutsideTheVocabularyAreNamed) {
  const auto tokenizer = Tokenizer::load(tokenizer_data() / "wordpiece-cased");
  EXPECT_THAT(error_of([&] { tokenizer->decode(TokenIds{-1}); }), HasSubstr("token id -1"));
  EXPECT_THAT(error_of([&] { tokenizer->token(1 << 30); }), HasSubstr("outside the vocabulary"));
  EXPECT_EQ(error_of([&] { tokenizer->decode(TokenIds{0}); }), "no error");
}

}  // namespace
}  // namespace quire
