// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace quire {

// Text from a file nobody should trust as part of a message: in quotes, cut after about 100 bytes,
// control characters and bytes that are no UTF-8 written as \xNN.
std::string quote(std::string_view text);

// A name for the beginning of a message: as it stands when it is short and harmless, else quoted.
std::string label(std::string_view name);

}  // namespace quire
