// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace quire::jinja {

// strftime in the C locale, as Python's datetime.strftime gives it for a time without a zone.
// Reads year, month, day, hour, minute and second only. Unknown directives are left as they are.
std::string format_time(std::string_view format, const std::tm& time);

}  // namespace quire::jinja
