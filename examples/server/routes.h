// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api_keys.h"
#include "engine.h"
#include "exchange.h"

namespace server {

// Answers a call: the page, /health and /metrics to anybody, what is below /v1 to who has a key.
// Every failure is a reply, in the shape that the client's API has for it.
//
// Thread-safety: as Engine.
Reply respond(Engine& engine, const ApiKeys& keys, Call call);

}  // namespace server
