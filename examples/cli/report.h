// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/result.h>

#include "json.h"

// The account of a result as JSON, the same from the program and from the server.
namespace cli {

// {"source", "kv", "length", "reused": {..}, "why_not_more": {..}}, and "reuse" where it was asked.
Json cache_json(const quire::CacheReport& report);

// {"queue_ms", "prefill_ms", "ttft_ms", "decode_ms", ..}
Json timings_json(const quire::Timings& timings);

}  // namespace cli
