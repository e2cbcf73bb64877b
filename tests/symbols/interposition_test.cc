// SPDX-License-Identifier: Apache-2.0
//
// SentencePiece and libtorch in one process, both used. Each defines FLAGS_minloglevel, with
// different sizes: where one binds to the other, setting it overwrites libc10's data beside it, and
// the next failed check of libtorch aborts the process instead of throwing. Naming such a variable
// here would move it into this program, out of harm's way, and the test could not fail.
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <gtest/gtest.h>
#include <quire/tokenizer.h>

namespace {

TEST(Interposition, LibtorchStillThrowsAfterSentencePiece) {
  const auto tokenizer = quire::Tokenizer::load(
      QUIRE_TEST_DATA "/tokenizers/sentencepiece-unigram-nfkc/tokenizer.model");
  ASSERT_EQ(tokenizer->kind(), "sentencepiece");
  ASSERT_FALSE(tokenizer->encode("Hello, world").empty());

  EXPECT_THROW(CAFFE_ENFORCE(false, "a check of libtorch that fails"), c10::Error);
  EXPECT_THROW(at::zeros({2, 3}).view({5}), c10::Error);
}

}  // namespace
