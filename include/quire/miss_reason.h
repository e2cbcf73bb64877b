// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quire {

// Why no more of a prompt was reused.
enum class MissReason : std::uint8_t {
  kNone,            // all of it, but for the token that must be computed
  kCold,            // nothing of it is known
  kEndOfStored,     // the longest known text ends here
  kDiverged,        // the nearest known text goes on differently
  kBelowMinimum,    // too short to be cached
  kEvicted,         // was known; evicted for room
  kExpired,         // was known; its time to live is over
  kOtherNamespace,  // known, but in another namespace
  kDisabled,        // no cache was asked
};

// "none", "cold", "end_of_stored", …
constexpr std::string_view to_string(MissReason reason) {
  constexpr std::string_view kNames[] = {
      "none",    "cold",    "end_of_stored",   "diverged", "below_minimum",
      "evicted", "expired", "other_namespace", "disabled"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace quire
