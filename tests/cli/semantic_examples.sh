#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# semantic_examples.sh SEMANTIC_FAQ TIERED: the examples, the first on the packaged MiniLM.
set -eu
model=${QUIRE_HOME:-$HOME/.cache/quire}/models/minilm
[ -e "$model" ] || { echo "$model is missing: run quire pull minilm"; exit 1; }

expect() {
  printf '%s\n' "$2"
  [ "$2" = "$1" ] || { printf 'expected:\n%s\n' "$1"; exit 1; }
}
# Scores to two digits: the others depend on the processor.
expect 'HIT   How can I reset my password?
      semantic, 0.99: Settings, Security, Reset password.
HIT   how do I reset my password?!
      normalized, 1: Settings, Security, Reset password.
MISS  Is the API not rate limited?
      polarity, 0.92 to "Is the API rate limited?": a negation on one side
MISS  Refund policy for monthly plans
      units, 0.91 to "Refund policy for annual plans": month against year
MISS  Flights from Florida to New York
      roles, 0.99 to "Flights from New York to Florida": from florida against from new
HIT   Flights to Florida from New York
      semantic, 0.99: Three a day, from JFK.' \
  "$("$1" "$model" | head -n 12 | sed -E 's/(0\.[0-9][0-9])[0-9]*/\1/')"
expect 'key-100: value 100, level 1; 100 + 50 entries
key-20: value 20, level 2, now at level 1; 100 + 50 entries
key-20: value 20, level 1; 100 + 50 entries
key-999: not there, a miss; 100 + 50 entries' "$("$2")"
