// SPDX-License-Identifier: Apache-2.0
// Tokenizers, hostile or with hostile texts, and chat templates.
#include <quire/chat.h>
#include <quire/error.h>
#include <quire/tokenizer.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include "io/utf8.h"
#include "tests/fuzz/targets.h"

namespace quire::fuzz {
namespace {

namespace fs = std::filesystem;

// Texts that reach every part of a tokenizer, for vocabularies that come from the input.
constexpr std::string_view kTexts[] = {"",
                                       "Hello world",
                                       "  two  spaces\n\nlines\t",
                                       "Ünïcödé 東京 🦜 e\u0301",
                                       "<|im_start|>user <s></s>[CLS] [MASK]",
                                       "12345 3.14 don't I'LL x_y",
                                       "\xff\xc3( \xed\xa0\x80"};

void use(const Tokenizer& tokenizer) {
  for (const std::string_view text : kTexts) {
    for (const bool special : {false, true}) {
      try {
        const TokenIds ids =
            tokenizer.encode(text, {.add_special = special, .parse_special = special});
        tokenizer.decode(ids, {.skip_special = special});
        tokenizer.pieces(text);
      } catch (const Error&) {
      }
    }
  }
}

// Whether it was refused.
bool load_and_use(const fs::path& path) {
  try {
    use(*Tokenizer::load(path));
    return false;
  } catch (const Error&) {
    return true;
  }
}

using Loaded = std::shared_ptr<const Tokenizer>;

Loaded load_known(std::string_view name) {
  return Tokenizer::load(fs::path(QUIRE_TEST_DATA) / "tokenizers" / name);
}

}  // namespace

bool tokenizer_json(std::string_view input) {
  return load_and_use(write_scratch("json/tokenizer.json", input));
}

bool sentencepiece(std::string_view input) {
  return load_and_use(write_scratch("spm/tokenizer.model", input));
}

bool chat_template(std::string_view input) {
  const TemplateOptions options = {
      .bos_token = "<s>",
      .eos_token = "</s>",
      .limits = {.max_steps = 20'000, .max_depth = 60, .max_output_bytes = 1U << 20}};
  static const std::tm kNow = [] {
    std::tm date{};
    date.tm_mday = 1;
    date.tm_year = 125;
    return date;
  }();
  const std::array<Message, 4> messages = {
      Message{.role = "system", .content = "Be brief."},
      Message{.role = "user", .content = "Hi <b>there</b>"},
      Message{.role = "assistant",
              .content = "",
              .fields_json = R"({"tool_calls": [{"type": "function", "function": {"name": "f",
                                 "arguments": {"x": [1, 2.5, null, true]}}}]})"},
      Message{.role = "tool", .content = "é"}};
  try {
    const auto parsed = ChatTemplate::parse(input, options);
    parsed->render(messages, {.tools_json = R"([{"type": "function", "function": {"name": "f"}}])",
                              .add_generation_prompt = true,
                              .now = kNow});
    return false;
  } catch (const Error&) {
    return true;
  }
}

bool text(std::string_view input) {
  // Those without a normaliser.
  static const Loaded exact[] = {load_known("bytelevel-gpt2"), load_known("bytelevel-llama3"),
                                 load_known("bytelevel-digits")};
  static const Loaded others[] = {load_known("bytelevel-added"),
                                  load_known("metaspace-bpe-llama2"),
                                  load_known("unigram-xlmr"),
                                  load_known("wordpiece-uncased"),
                                  load_known("sentencepiece-bpe-llama"),
                                  load_known("sentencepiece-unigram-nfkc")};
  const bool valid = is_utf8(input);
  for (const Loaded& tokenizer : exact) {
    const std::string back = tokenizer->decode(tokenizer->encode(input, {.parse_special = false}));
    if (valid && back != input) throw std::logic_error("a byte-level tokenizer changed a text");
  }
  for (const Loaded& tokenizer : others) {
    const TokenIds ids = tokenizer->encode(input, {.add_special = true});
    StreamDecoder decoder(tokenizer);
    std::string streamed;
    for (const TokenId id : ids) streamed += decoder.push(id);
    streamed += decoder.finish();
    if (streamed != tokenizer->decode(ids)) throw std::logic_error("a stream differs from a text");
  }
  return false;
}

}  // namespace quire::fuzz
