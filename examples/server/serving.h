// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine.h"
#include "http_server.h"

namespace server {

// Serves until SIGTERM or SIGINT and then ends in order; a second signal ends the process at once.
// Says "listening on http://…" on stderr when it can answer. Sets how the process' malloc keeps
// freed memory. Throws quire::Error kIo if it cannot listen.
void serve_until_signal(Engine& engine, const HttpOptions& options);

}  // namespace server
