// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>

#include <vector>

#include "json.h"

namespace cli {

// The messages of a line; each keeps the JSON it came in. Throws Error kInvalidArgument.
std::vector<quire::Message> messages_of(const Fields& line);

}  // namespace cli
