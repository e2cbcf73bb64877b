// SPDX-License-Identifier: Apache-2.0
// GGUF files that are valid but made to overflow or to take forever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "model/config_reader.h"
#include "model/convert_tokenizer.h"
#include "tests/formats/model_files.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

// A llama of two layers with a list, `number` for each layer, under the key `listed`.
GgufBuilder llama(std::string_view listed, std::uint64_t number) {
  constexpr std::pair<std::string_view, std::uint32_t> kSizes[] = {
      {"llama.block_count", 2},          {"llama.embedding_length", 4},
      {"llama.context_length", 16},      {"llama.feed_forward_length", 8},
      {"llama.attention.head_count", 1}, {"llama.attention.head_count_kv", 1},
      {"llama.attention.key_length", 4}};
  GgufBuilder file;
  file.text("general.architecture", "llama");
  for (const auto& [key, size] : kSizes) {
    if (key == listed) {
      file.array(key, GgufType::kUint64, 2, bytes_of(number) + bytes_of(number));
    } else {
      file.entry(key, GgufType::kUint32, bytes_of(size));
    }
  }
  file.entry("llama.attention.layer_norm_rms_epsilon", GgufType::kFloat32, bytes_of(1e-5f));
  file.tensor("token_embd.weight", {4, 2}, 0, std::string(32, '\0'));
  return file;
}

// 2^62 + 16 heads of 4 numbers are 64 numbers in 64 bits.
TEST(HostileGguf, ListsHaveTheBoundsOfSingleNumbers) {
  const TestFolder folder;
  for (const char* key : {"llama.feed_forward_length", "llama.attention.head_count",
                          "llama.attention.head_count_kv"}) {
    SCOPED_TRACE(key);
    const auto parse = [&](std::uint64_t number) {
      const auto path = folder.write("a.gguf", llama(key, number).build());
      return error_of([&] { parse_model_config(*Checkpoint::open(path)); });
    };
    EXPECT_EQ(parse(1), "no error");
    EXPECT_THAT(parse((std::uint64_t{1} << 62) + 16), HasSubstr(std::string(key) + ": expected"));
    EXPECT_THAT(parse(kMaxWidth + 1), HasSubstr("expected numbers from 1 to 16777216"));
  }
}

// A piece of a megabyte has a million ways to be cut in two.
TEST(HostileGguf, ConvertingRefusesLongPieces) {
  const TestFolder folder;
  const auto convert = [&](std::size_t bytes) {
    GgufBuilder file;
    file.text("tokenizer.ggml.model", "llama");
    file.array("tokenizer.ggml.tokens", GgufType::kString, 2,
               gguf_string("a") + gguf_string(std::string(bytes, 'a')));
    file.array("tokenizer.ggml.scores", GgufType::kFloat32, 2, std::string(8, '\0'));
    const auto path = folder.write("a.gguf", file.build());
    return error_of([&] { tokenizer_json_of(GgufFile(path), *Tokenizer::load(path)); });
  };
  EXPECT_EQ(convert(1024), "no error");
  EXPECT_THAT(convert(1025), HasSubstr("expected pieces of at most 1024 bytes, found one of 1025"));
}

}  // namespace
}  // namespace quire
