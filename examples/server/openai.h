// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine.h"
#include "exchange.h"

// OpenAI's endpoints. Answers carry one more member, "quire": Engine::report.
//
// Beyond theirs, bodies may have top_k, min_p, repetition_penalty, "ignore_eos", "cache_salt" and
// "semantic": true (an earlier answer to what means the same will do), and messages and parts
// "cache_control". Fields that would change the answer and are not there, such as logit_bias, are
// refused, not ignored. With n > 1 a stream has each answer in one piece.
//
// All throw ApiError and quire::Error.
namespace server {

Reply chat_completions(Engine& engine, const Call& call);
Reply completions(Engine& engine, const Call& call);
Reply embeddings(Engine& engine, const Call& call);
Reply list_models(Engine& engine, const Call& call);
Reply retrieve_model(Engine& engine, const Call& call);

}  // namespace server
