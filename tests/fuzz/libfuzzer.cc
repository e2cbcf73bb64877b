// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry. The target is named by the argument --target=NAME, which libFuzzer leaves.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "tests/fuzz/targets.h"

namespace {

quire::fuzz::Target chosen = nullptr;

}  // namespace

// The names are libFuzzer's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(kFlag)) {
      chosen = quire::fuzz::find_target(argument.substr(kFlag.size()));
    }
  }
  if (chosen == nullptr) throw std::invalid_argument("expected --target=NAME");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen({reinterpret_cast<const char*>(data), size});
  return 0;
}
// NOLINTEND(readability-identifier-naming)
