// SPDX-License-Identifier: Apache-2.0
// A model loads with the tokenizer that its files hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;
using ::testing::HasSubstr;

const std::filesystem::path kSentencePiece =
    std::filesystem::path(QUIRE_TEST_DATA) / "tokenizers" / "sentencepiece-bpe-llama";

// The layout of Mistral-7B-Instruct: safetensors beside a SentencePiece tokenizer.model.
TEST(Tokenizers, MistralWithASentencePieceModel) {
  const ScratchFolder scratch;
  const std::filesystem::path folder = kModels / "mistral-sentencepiece";
  copy_model(folder, scratch.path(), read_json_file(folder / "config.json"));
  std::filesystem::create_symlink(kSentencePiece / "tokenizer.model",
                                  scratch.path() / "tokenizer.model");
  const auto model = load(scratch.path());
  ASSERT_NE(model->tokenizer(), nullptr);
  EXPECT_EQ(model->tokenizer()->kind(), "sentencepiece");
  EXPECT_EQ(model->tokenizer()->vocab_size(), 900u);
  EXPECT_EQ(model->chat_template(), nullptr);

  const TokenIds ids = model->tokenizer()->encode("The cat sat on the mat.");
  EXPECT_EQ(model->tokenizer()->decode(ids), "The cat sat on the mat.");
  DynamicCache cache(model->kv_spec());
  EXPECT_EQ(last_logits(*model, ids, 0, cache).size(), 900u);
}

TEST(Tokenizers, WithoutOneAModelStillLoads) {
  EXPECT_EQ(load(kModels / "llama")->tokenizer(), nullptr);
  EXPECT_NE(load(kModels / "gguf-qwen2.gguf")->tokenizer(), nullptr);
}

TEST(Tokenizers, ABrokenOneIsAnError) {
  const ScratchFolder scratch;
  copy_model(kModels / "llama", scratch.path(), read_json_file(kModels / "llama" / "config.json"));
  write_file(scratch.path() / "tokenizer.json", "{\"model\": 7}");
  EXPECT_THAT(error_of([&] { load(scratch.path()); }), HasSubstr("tokenizer.json"));
}

}  // namespace
}  // namespace quire
