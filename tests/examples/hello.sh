#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# hello.sh PROGRAM: the example of the README, on the model that the quickstart fetches.
set -eu
model=${QUIRE_HOME:-$HOME/.cache/quire}/models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
[ -e "$model" ] || { echo "$model is missing: run quire pull smollm2"; exit 1; }
output=$("$1" "$model" "The capital of France is")
printf '%s\n' "$output"
case $output in
  " Paris."*"25 tokens") ;;
  *) echo "expected ' Paris.' and, of 5 tokens of prompt and 20 new ones, '25 tokens'"; exit 1 ;;
esac
