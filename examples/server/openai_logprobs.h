// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/request.h>
#include <quire/result.h>
#include <quire/tokenizer.h>

#include "cli/json.h"

// How likely each token of an answer was: "logprobs" of OpenAI's two ways to generate, which are
// spelled differently. Not in streams.
namespace server {

// "logprobs": true and "top_logprobs": k / "logprobs": k. The number to show beside the token that
// was chosen; nothing where none are asked for. Throws quire::Error kInvalidArgument.
std::optional<int> chat_logprobs_of(const cli::Fields& body);
std::optional<int> completion_logprobs_of(const cli::Fields& body);

// What the library is to report, so that `shown` can be shown.
int reported_logprobs(std::optional<int> shown);

cli::Json chat_logprobs(const quire::Tokenizer& tokenizer, const quire::Choice& choice, int shown);

// `offset`: bytes of text before the answer's.
cli::Json completion_logprobs(const quire::Tokenizer& tokenizer, const quire::Choice& choice,
                              int shown, std::size_t offset);

}  // namespace server
