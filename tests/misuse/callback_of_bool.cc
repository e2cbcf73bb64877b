// SPDX-License-Identifier: Apache-2.0
// refused: no matching function|cannot convert|could not convert
// Going on, stopping and cancelling are three things: no bool says which.
#include <quire/generator.h>

quire::Result use(quire::Generator& generator, const quire::Request& request) {
  generator.generate(request, [](std::string_view) { return true; });  // misuse
  return generator.generate(request, [](std::string_view) { return quire::Stream::kContinue; });
}
