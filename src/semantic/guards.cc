// SPDX-License-Identifier: Apache-2.0
#include "semantic/guards.h"

namespace quire {

std::string_view to_string(Guard guard) {
  switch (guard) {
    case Guard::kNumbers:
      return "numbers";
    case Guard::kUnits:
      return "units";
    case Guard::kPolarity:
      return "polarity";
    case Guard::kRoles:
      return "roles";
    case Guard::kEntities:
      return "entities";
    case Guard::kReferents:
      return "referents";
    case Guard::kSubstitution:
      break;
  }
  return "substitution";
}

std::optional<GuardVerdict> first_refusal(const Pairing& pairing, const GuardSet& on) {
  struct Step {
    bool enabled;
    Guard guard;
    Objection (*objection)(const Pairing&);
  };
  const Step steps[] = {{on.numbers, Guard::kNumbers, differing_numbers},
                        {on.units, Guard::kUnits, differing_units},
                        {on.polarity, Guard::kPolarity, opposite_polarity},
                        {on.roles, Guard::kRoles, exchanged_roles},
                        {on.entities, Guard::kEntities, differing_entities},
                        {on.referents, Guard::kReferents, differing_referents},
                        {on.substitution, Guard::kSubstitution, substituted_word}};
  for (const Step& step : steps) {
    if (!step.enabled) continue;
    if (auto saw = step.objection(pairing)) return GuardVerdict{step.guard, *std::move(saw)};
  }
  return std::nullopt;
}

}  // namespace quire
