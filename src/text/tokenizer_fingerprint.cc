// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_fingerprint.h"

#include <quire/error.h>
#include <xxhash.h>

#include <cstdio>
#include <optional>
#include <string_view>

namespace quire {
namespace {

// Words, case, contractions, numbers, code, runs of blanks, accents composed and not, other
// scripts, an emoji of several code points.
constexpr std::string_view kText =
    "Hello, world! It's 1234567 o'clock; we'll see.\n\n\tif (x >= 10) return f(y)[0];   done.  \r\n"
    "ANTIDISESTABLISHMENTARIANISM na\u00efve cafe\u0301 \u00a0\u2014 \u00bd "
    "\u0444\u0438\u0437\u0438\u043a\u0430 "
    "\u673a\u5668\u5b66\u4e60 \u3053\u3093\u306b\u3061\u306f \u0645\u0631\u062d\u0628\u0627 "
    "\U0001F469\u200d\U0001F4BB <b>&amp;</b> https://example.org/?q=a+b#c __init__ 3.14e-10";

void append(std::string& bytes, std::string_view text) {
  bytes += std::to_string(text.size());
  bytes += ':';
  bytes += text;
}

// Nothing for a gap in the vocabulary.
std::optional<std::string> spelling_of(const Tokenizer& tokenizer, TokenId id) {
  try {
    return tokenizer.token(id);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    return std::nullopt;
  }
}

void append_token(std::string& bytes, const Tokenizer& tokenizer, TokenId id) {
  if (const auto spelling = spelling_of(tokenizer, id)) {
    append(bytes, *spelling);
    bytes += tokenizer.is_special(id) ? 's' : ' ';
  } else {
    bytes += '-';  // no spelling begins so
  }
}

void append_ids(std::string& bytes, const Tokenizer& tokenizer, bool add_special) {
  try {
    for (const TokenId id : tokenizer.encode(kText, {.add_special = add_special})) {
      bytes += std::to_string(id) + ' ';
    }
  } catch (const Error& error) {
    append(bytes, error.what());  // a vocabulary that cannot spell the text
  }
}

}  // namespace

std::string fingerprint_of(const Tokenizer& tokenizer) {
  std::string bytes(tokenizer.kind());
  const auto size = static_cast<TokenId>(tokenizer.vocab_size());
  for (TokenId id = 0; id < size; ++id) append_token(bytes, tokenizer, id);
  append_ids(bytes, tokenizer, false);
  append_ids(bytes, tokenizer, true);
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  char hex[33];
  std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return hex;
}

}  // namespace quire
