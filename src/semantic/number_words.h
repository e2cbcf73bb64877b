// SPDX-License-Identifier: Apache-2.0
// Numbers as people write them: 1,200.5  $40  1.5k  50%  3rd  twenty-four  two million.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semantic/utterance.h"

namespace quire {

// What a piece of text without spaces says when it is a number: its value and the words for what
// is written around it ("dollar", "percent", "kg").
struct WrittenNumber {
  double value = 0;
  std::vector<std::string> around = {};
};

// Nothing if `piece` is no number: a version, a code, a time of day.
std::optional<WrittenNumber> read_number(std::string_view piece);

// Joins the number words and multipliers among `words` to numbers, in place.
void join_number_words(std::vector<Word>& words);

}  // namespace quire
