// SPDX-License-Identifier: Apache-2.0
#include "tests/model/converted_texts.h"

#include <gtest/gtest.h>
#include <quire/error.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "formats/gguf.h"
#include "io/output_file.h"
#include "model/convert_tokenizer.h"

namespace quire::testing {

namespace {

std::vector<std::string> texts_for(const Tokenizer& tokenizer) {
  std::vector<std::string> texts = {
      "",
      " ",
      "  two  spaces  ",
      "Hello, world! It's 3.14159 o'clock, isn't it?",
      "line\nline\r\n\n\n\tindented   \t code();",
      "naïve café – “quoted” … ½ ¾ Ⅳ",
      "日本語のテキスト 한국어 中文 العربية हिन्दी ไทย",
      "emoji 👩‍👩‍👧‍👦 🇳🇴 🤷🏽 and \u200b zero width",
      "1234567890 12 123 1,000,000 0x1F",
      "e\u0301 decomposed, \u00e9 composed, \ufb01 ligature",
      "▁literal ▁▁ metaspace Ġ and <0x41> bytes",
      std::string(300, 'a') + std::string(40, ' ') + std::string(40, '\n'),
      std::string("nul \0 inside", 12),
  };
  std::mt19937 random(7);
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random()) % count; };
  const std::string letters = "abcdefgh ABC 0123456789 .,!?'\n\t-éß中▁";
  for (int i = 0; i < 60; ++i) {
    std::string text;
    for (std::size_t length = 1 + below(60); length > 0; --length) {
      text += letters[below(letters.size())];  // cuts characters apart, too
    }
    texts.push_back(text);
  }
  for (int i = 0; i < 200; ++i) {
    TokenIds ids;
    for (std::size_t length = 1 + below(12); length > 0; --length) {
      const auto id = static_cast<TokenId>(below(tokenizer.vocab_size()));
      ids.push_back(id);
    }
    texts.push_back(tokenizer.decode(ids));
  }
  return texts;
}

// Nothing where the vocabulary cannot spell the text: tiny models' lack most bytes.
std::optional<TokenIds> encoded(const Tokenizer& tokenizer, const std::string& text,
                                EncodeOptions options) {
  try {
    return tokenizer.encode(text, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    return std::nullopt;
  }
}

}  // namespace

void convert_tokenizer(const std::filesystem::path& gguf, const std::filesystem::path& folder) {
  const GgufFile file(gguf);
  write_new_file(folder / "tokenizer.json", tokenizer_json_of(file, *Tokenizer::load(gguf)));
  write_new_file(folder / "tokenizer_config.json", tokenizer_config_of(file, 100).dump());
}

void expect_same_tokens(const Tokenizer& expected, const Tokenizer& actual) {
  ASSERT_EQ(actual.vocab_size(), expected.vocab_size());
  EXPECT_EQ(actual.bos(), expected.bos());
  EXPECT_EQ(actual.unk(), expected.unk());
  EXPECT_EQ(actual.adds_bos(), expected.adds_bos());
  // A directory's BOS is special by being named so, whatever its type was: in made-up files it may
  // be an ordinary letter.
  const bool same_specials = !expected.bos() || expected.is_special(*expected.bos());
  int spelled = 0;
  for (const std::string& text : texts_for(expected)) {
    SCOPED_TRACE(::testing::PrintToString(text));
    const auto ids = encoded(expected, text, {.add_special = true});
    EXPECT_EQ(encoded(actual, text, {.add_special = true}), ids);
    EXPECT_EQ(encoded(actual, text, {.parse_special = false}),
              encoded(expected, text, {.parse_special = false}));
    if (!ids) continue;
    ++spelled;
    EXPECT_EQ(actual.decode(*ids), expected.decode(*ids));
    if (!same_specials) continue;
    EXPECT_EQ(actual.decode(*ids, {.skip_special = true}),
              expected.decode(*ids, {.skip_special = true}));
  }
  EXPECT_GT(spelled, 1);  // more than the empty text
}

}  // namespace quire::testing
