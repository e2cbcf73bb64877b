// SPDX-License-Identifier: Apache-2.0
#include "unknown_tokens.h"

#include <quire/error.h>

namespace cli {

void add_unknown_tokens(CLI::App& command, std::string& value) {
  command
      .add_option("--unknown-tokens", value,
                  "Texts with tokens that the encoder does not know: refuse or allow")
      ->check(CLI::IsMember({"refuse", "allow"}))
      ->capture_default_str();
}

quire::UnknownTokens unknown_tokens_of(const std::string& value) {
  if (value == "refuse") return quire::UnknownTokens::kRefuse;
  if (value == "allow") return quire::UnknownTokens::kAllow;
  throw quire::Error(quire::ErrorCode::kInvalidArgument, "unknown_tokens",
                     "expected refuse or allow, found " + value);
}

}  // namespace cli
