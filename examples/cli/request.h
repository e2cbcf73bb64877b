// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>
#include <quire/request.h>
#include <quire/result.h>

#include <memory>

#include "json.h"

// Requests and results as CLI.md's JSON has them.
namespace cli {

// Everything of a generate line but its cache and session. What the line leaves open is the
// model's own default. Throws Error kInvalidArgument, and kUnsupported for what is not there yet.
quire::Request request_of(const Fields& line, const quire::Model& model);

// The cache that a line asks for; null for the generator's own. `tokens`: prompt + new.
std::unique_ptr<quire::KvCache> cache_of(const Fields& line, const quire::Model& model,
                                         std::int64_t tokens);

Json result_json(const quire::Result& result, const quire::Request& request);

}  // namespace cli
