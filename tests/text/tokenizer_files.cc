// SPDX-License-Identifier: Apache-2.0
#include "tests/text/tokenizer_files.h"

#include <gtest/gtest.h>

#include "text/utf8.h"

namespace quire {

std::string streamed(const std::shared_ptr<const Tokenizer>& tokenizer, const TokenIds& ids,
                     DecodeOptions options) {
  StreamDecoder stream(tokenizer, options);
  std::string joined;
  const auto add = [&](const std::string& part) {
    EXPECT_TRUE(is_valid_utf8(part));
    joined += part;
  };
  for (const TokenId id : ids) add(stream.push(id));
  add(stream.finish());
  return joined;
}

}  // namespace quire
