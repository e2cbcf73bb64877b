// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine.h"
#include "exchange.h"

// Anthropic's endpoints, for texts. Answers carry one more member, "quire": Engine::report; bodies
// may have "semantic", as openai.h says.
//
// What a mark {"cache_control": {"type": "ephemeral", "ttl": "5m"}} covers is kept and read as the
// library's Message::cache_control says; usage tells the tokens, input_tokens being the rest. In a
// stream they are known at its end: message_delta has them all.
//
// All throw ApiError and quire::Error.
namespace server {

Reply messages(Engine& engine, const Call& call);
Reply count_tokens(Engine& engine, const Call& call);

}  // namespace server
