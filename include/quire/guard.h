// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>

#include <string>
#include <string_view>

namespace quire {

// Named reasons not to reuse an answer although the texts' vectors are close. Each is a small rule
// over the two texts' words (English first; Chinese negation, numbers and directions too).
enum class Guard {
  kNumbers,       // numbers, versions, dates, flags, paths, code, quotations differ
  kUnits,         // a different unit or currency
  kPolarity,      // a negation or an opposite more on one side
  kRoles,         // the same words in other places: from A to B, from B to A
  kEntities,      // a different name
  kReferents,     // my or your, who or when, all or some, at least or at most
  kSubstitution,  // one word exchanged, and the encoder does not take them for the same
};

// "numbers", "units", "polarity", "roles", "entities", "referents", "substitution".
QUIRE_EXPORT std::string_view to_string(Guard guard);

// Which guards may refuse.
struct GuardSet {
  bool numbers = true;
  bool units = true;
  bool polarity = true;
  bool roles = true;
  bool entities = true;
  bool referents = true;
  bool substitution = true;

  static GuardSet none() { return {false, false, false, false, false, false, false}; }
};

// A refusal, with what the guard saw: {kNumbers, "5 against 500"}.
struct GuardVerdict {
  Guard guard;
  std::string saw;
};

}  // namespace quire
