#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# examples.sh STREAMING CONVERSATION: the examples, on the packaged SmolLM2.
set -eu
. "$(dirname "$0")/on_smollm2.sh"
expect ' Paris.
[stop]' "$("$1" "$model" 'The capital of France is' 600000)"
expect '
[deadline]' "$("$1" "$model" 'The capital of France is' 0)"
expect 'The capital of France is Paris.
[0 of 37 prompt tokens were in the cache]
The capital of France is Paris.
[44 of 59 prompt tokens were in the cache]' \
  "$("$2" "$model" 'What is the capital of France?' 'And its population?')"
