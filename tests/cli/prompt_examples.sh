#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# prompt_examples.sh CAG FORK DIVERGENCE SHARED_PREFIX MANUAL: the examples, on the packaged SmolLM2.
set -eu
. "$(dirname "$0")/on_smollm2.sh"

expect '3 of 25 tokens in common; then they part:
  a: <|im_start|>system\n | You are a helpful AI assistant named Smo
  b: <|im_start|>system\n | Today is Tuesday.<|im_end|>\n<|im_start|>   (message 0, character 0)
  suspect: default system prompt injected by the template
14 of 47 tokens in common; then they part:
  a: <|im_start|>system\nDate: 2025-03- | 09. You are a careful assistant. Answer    (message 0, character 14)
  b: <|im_start|>system\nDate: 2025-03- | 10. You are a careful assistant. Answer    (message 0, character 14)
  suspect: other system prompt
  suspect: date
26 of 47 tokens in common; then they part:
  a: er in one short sentence. Date: 2025-03- | 09.<|im_end|>\n<|im_start|>user\nWhat is t   (message 0, character 73)
  b: er in one short sentence. Date: 2025-03- | 10.<|im_end|>\n<|im_start|>user\nWhat is t   (message 0, character 73)
  suspect: other system prompt
  suspect: date' "$("$3" "$model")"

# Of the others, what does not depend on words that the model chooses, nor on the machine.
expect '[17 tokens, computed once]
[17 of 33 prompt tokens came from the snapshot; the answer is the one without it]
[17 of 30 prompt tokens came from the snapshot; the answer is the one without it]' \
  "$("$4" "$model" | sed -nE 's/^.*(\[[0-9]+ .*)$/\1/p')"
expect '[36 tokens, read once]
[6 tokens read; 1440 of the trunk'"'"'s 2880 KiB are shared]
[7 tokens read; 1440 of the trunk'"'"'s 2880 KiB are shared]
cut back to 5 tokens
4 messages on the fork, 2 in the conversation' \
  "$("$2" "$model" | sed -nE 's/^.*(\[[0-9]+ .*)$/\1/p; /^cut|messages/p')"
expect '  preloaded: 13 tokens to read, first token after N ms
  cold:      1542 tokens to read, first token after N ms (N times as long); the same answer
  retrieval: 525 tokens to read with 4 passages of 128, after a search for them
1529 tokens in the cache, as before' \
  "$("$1" "$model" "$5" 'How do I reset the gauge?' |
    sed -nE 's/after [0-9]+ ms/after N ms/; s/\([0-9]+ times/(N times/; /^  |before$/p')"
