// SPDX-License-Identifier: Apache-2.0
// Texts on which a converted tokenizer must agree with the file's own.
#pragma once

#include <quire/tokenizer.h>

#include <filesystem>

namespace quire::testing {

// The tokenizer files of a .gguf file, converted into a folder without its weights.
void convert_tokenizer(const std::filesystem::path& gguf, const std::filesystem::path& folder);

// Encodes and decodes handmade texts, texts made of the vocabulary's own pieces, and random ones.
void expect_same_tokens(const Tokenizer& expected, const Tokenizer& actual);

}  // namespace quire::testing
