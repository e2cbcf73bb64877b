// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/semantic_cache.h>

#include <CLI/CLI.hpp>
#include <string>

// What a semantic cache does with tokens that its encoder does not know, as people write it.
namespace cli {

void add_unknown_tokens(CLI::App& command, std::string& value);

// Throws quire::Error kInvalidArgument.
quire::UnknownTokens unknown_tokens_of(const std::string& value);

}  // namespace cli
