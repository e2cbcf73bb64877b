// SPDX-License-Identifier: Apache-2.0
// What reports about served answers teach.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <quire/semantic_answer.h>

#include <cstdint>

namespace quire {

// The share p for which `wrong` or fewer of `reported` would have a chance of 5 %: the upper end of
// Clopper and Pearson's one-sided interval. 1 when nothing was reported.
double upper_error(std::int64_t reported, std::int64_t wrong);

// The cosine that an entry asks for: at least `least`, and above what was reported wrong.
double learned_threshold(double least, double wrong_score);

void report(ErrorBound& bound, bool wrong);

}  // namespace quire
