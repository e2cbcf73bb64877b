// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/strftime.h"

#include <locale.h>  // newlocale: POSIX
#include <time.h>    // strftime_l: POSIX

#include <array>

namespace quire::jinja {
namespace {

// The day of the week and of the year follow from the date, whatever the caller filled in.
std::tm completed(const std::tm& time) {
  std::tm copy = time;
  copy.tm_isdst = 0;
  timegm(&copy);
  return copy;
}

// One directive, from its percent sign to its letter.
std::string directive(const std::string& text, const std::tm& time) {
  static const locale_t kPlain = newlocale(LC_ALL_MASK, "C", nullptr);
  switch (text.back()) {
    case 'f':
      return "000000";
    case 'z':
    case 'Z':
      return {};
    default:
      break;
  }
  std::array<char, 1024> out{};
  const std::size_t size = strftime_l(out.data(), out.size(), text.c_str(), &time, kPlain);
  return {out.data(), size};
}

}  // namespace

std::string format_time(std::string_view format, const std::tm& time) {
  const std::tm moment = completed(time);
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out.push_back(format[at++]);
      continue;
    }
    std::size_t end = format.find_first_not_of("-_^#EO0123456789", at + 1);
    if (end == std::string_view::npos) {
      out += format.substr(at);
      break;
    }
    if (static_cast<unsigned char>(format[end]) >= 0x80 || format[end] == '\0') {
      out += format.substr(at, end - at);
      at = end;
      continue;
    }
    out += directive(std::string(format.substr(at, end + 1 - at)), moment);
    at = end + 1;
  }
  return out;
}

}  // namespace quire::jinja
