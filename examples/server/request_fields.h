// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>
#include <quire/model.h>
#include <quire/sampling.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"
#include "engine.h"

// What requests of both APIs have in common, read and checked. All throw ApiError or quire::Error
// kInvalidArgument, which both are 400 but for check_model.
namespace server {

// A body as an object. Nesting deeper than any request needs is refused before it is parsed.
cli::Fields body_of(const Call& call);

// Throws ApiError 404 if the body names another model than `id`.
void check_model(const cli::Fields& body, const std::string& id);

// What the body leaves open is the model's own default; but a draw without a seed is a new one each
// time. `most_temperature`: the API's.
quire::Sampling sampling_of(const cli::Fields& body, const quire::Model& model,
                            double most_temperature);

// A whole number from `least` to `most`.
std::optional<std::int64_t> integer_of(const cli::Fields& body, std::string_view key,
                                       std::int64_t least, std::int64_t most);

// Texts that end an answer; none may be empty.
std::vector<std::string> stop_of(const cli::Fields& body, std::string_view key);

// Whether the client asks for an earlier answer to the same, or to what means the same: "semantic",
// a field of our own.
std::optional<quire::AnswerReuse> reuse_of(const cli::Fields& body);

// The messages of a body, at least one, with roles of the list and contents that are texts.
std::vector<quire::Message> checked_messages(const cli::Fields& body);

// Checks a message's content where it is a list: parts {"type": "text", "text": ..}.
void check_parts(const cli::Json& parts);

// "PREFIX" and 24 hex digits that no other answer has.
std::string new_id(std::string_view prefix);

}  // namespace server
