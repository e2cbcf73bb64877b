// SPDX-License-Identifier: Apache-2.0
// A question as it is however it is typed: NFC, spaces trimmed and single, no capital where only
// the sentence asks for one, no final . or !. A final ? stays, and code stays as it is.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <string>
#include <string_view>

namespace quire {

std::string normalized_question(std::string_view text);

}  // namespace quire
