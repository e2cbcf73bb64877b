// SPDX-License-Identifier: Apache-2.0
// The guards: each looks at a pairing and returns what it objects to, or nothing.
//
// They only refuse; the order of candidates stays the encoder's.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <quire/guard.h>

#include <optional>
#include <set>
#include <string>

#include "semantic/word_pairing.h"

namespace quire {

using Objection = std::optional<std::string>;

Objection differing_numbers(const Pairing& pairing);
Objection differing_units(const Pairing& pairing);
Objection opposite_polarity(const Pairing& pairing);
Objection exchanged_roles(const Pairing& pairing);
Objection differing_entities(const Pairing& pairing);
Objection differing_referents(const Pairing& pairing);
Objection substituted_word(const Pairing& pairing);

// The first refusal of the guards that are on, in the order of the enumeration.
std::optional<GuardVerdict> first_refusal(const Pairing& pairing, const GuardSet& on);

// Every name that a text spells, those within identifiers too, so that `module.name` and "the name
// of module" agree.
using Parts = std::set<std::string, std::less<>>;
Parts all_parts(const Utterance& said);

// The two words are opposites of each other or stand for the same end of a pair of opposites.
bool on_one_axis(const Word& a, const Word& b);

// "A is faster than B" against "B is slower than A": opposites that exchanged roles undo.
bool is_reversed_comparison(const Pairing& pairing);

}  // namespace quire
