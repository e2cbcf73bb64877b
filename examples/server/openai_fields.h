// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/request.h>
#include <quire/result.h>

#include <string>
#include <string_view>

#include "cli/json.h"
#include "engine.h"

// What OpenAI's two ways to generate share.
namespace server {

struct StreamOptions {
  bool stream = false;
  bool include_usage = false;
};

// Throws as openai.h says.
StreamOptions stream_options_of(const cli::Fields& body);

// Everything of a request but what to generate from and how much.
quire::Request generation_of(const cli::Fields& body, const Engine& engine);

// The beginning of every answer and chunk: {"id", "object", "created", "model"}.
cli::Json envelope(std::string_view object, const std::string& id, const Engine& engine);

// "stop" or "length".
std::string_view openai_reason(quire::FinishReason reason);

cli::Json openai_usage(const quire::Usage& usage);

// All n answers of a result.
std::vector<quire::Choice> choices_of(const quire::Result& result);

}  // namespace server
