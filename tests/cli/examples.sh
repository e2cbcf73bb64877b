#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# examples.sh STREAMING CONVERSATION: the examples, on the packaged SmolLM2.
set -eu
model=${QUIRE_HOME:-$HOME/.cache/quire}/models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
[ -e "$model" ] || { echo "$model is missing: run quire pull smollm2"; exit 1; }

expect() {
  printf '%s\n' "$2"
  [ "$2" = "$1" ] || { printf 'expected:\n%s\n' "$1"; exit 1; }
}
expect ' Paris.
[stop]' "$("$1" "$model" 'The capital of France is' 600000)"
expect '
[deadline]' "$("$1" "$model" 'The capital of France is' 0)"
expect 'The capital of France is Paris.
[0 of 37 prompt tokens were in the cache]
The capital of France is Paris.
[44 of 59 prompt tokens were in the cache]' \
  "$("$2" "$model" 'What is the capital of France?' 'And its population?')"
