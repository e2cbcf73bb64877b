// SPDX-License-Identifier: Apache-2.0
// The packaged Gemma 3's vocabulary of 262144 pieces by scores, as merges.
#include <gtest/gtest.h>

#include "tests/model/converted_texts.h"
#include "tests/model/fixtures.h"
#include "tests/model/real_models.h"

namespace quire {
namespace {

using namespace quire::testing;

TEST(ConvertedGemma3, GivesTheSameTokens) {
  const std::filesystem::path file = packaged("gemma3", "gemma-3-270m-q4_k_m.gguf");
  const ScratchFolder scratch;
  convert_tokenizer(file, scratch.path());
  expect_same_tokens(*Tokenizer::load(file), *Tokenizer::load(scratch.path()));
}

}  // namespace
}  // namespace quire
