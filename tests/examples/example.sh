#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# example.sh NAME PROGRAM DATA: the example does what it says, on a tiny model of random weights:
# what it says is gibberish, what it reports is not. The examples exit with 1 where an answer is not
# the one it ought to be.
set -eu
name=$1 program=$2 data=$3
model=$data/chat  # its tokens are letters
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
  output=$("$program" "$@") || { printf '%s\n' "$output"; exit 1; }
  printf '%s\n' "$output"
}
# Every line that matches the pattern counts; `expect N PATTERN` wants N of them.
expect() {
  found=$(printf '%s\n' "$output" | grep -a -c -E "$2" || true)
  [ "$found" = "$1" ] || { echo "expected $1 lines like '$2', found $found"; exit 1; }
}

text="Once upon a time there was a king who had three daughters and a dragon in the cellar."
case $name in
  block_hashes)
    run "$model" "$text They lived there." "$text They left early."
    expect 5 '^tokens from +(0|16|32|48|64) .*as before$'
    expect 1 '^80 tokens reused as whole blocks, 12 copied from .*, 10 computed$'
    ;;
  cag)
    echo "The lamp is lit on Mondays. Press A for two seconds to stop." >"$work/manual.txt"
    run "$model" "$work/manual.txt" "When is it lit?" "How do I stop?"
    expect 2 'the same answer$'
    expect 1 '^[1-9][0-9]* tokens in the cache, as before$'
    ;;
  cancellation)
    run "$model" "$text" 20
    expect 1 '^\[cancelled after [0-9]+ tokens\]$'
    expect 1 '^\[length after 48 tokens\]$'
    ;;
  divergence)
    run "$model"
    expect 3 '^[0-9]+ of [0-9]+ tokens in common; then they part:$'
    expect 3 '^  suspect: other system prompt$'
    expect 2 '^  suspect: date$'
    ;;
  explain)
    run "$model"
    expect 1 '^the first time: 0 of [0-9]+ tokens known; cold'
    expect 1 '^the same again: [1-9][0-9]* of [0-9]+ tokens known; none$'
    expect 1 '^and more after it: [1-9][0-9]* of [0-9]+ tokens known; end_of_stored at token'
    expect 1 '^one word changed: [1-9][0-9]* of .*; diverged at token [0-9]+, where ".*" was stored'
    expect 1 '^for another tenant: 0 of [0-9]+ tokens known; other_namespace'
    expect 1 '^with the cache left out: 0 of [0-9]+ tokens known; disabled'
    ;;
  fork)
    run "$model"
    expect 2 '\[[0-9]+ tokens read; [0-9]+ of the trunk.s [0-9]+ KiB are shared\]$'
    expect 1 '^4 messages on the fork, 2 in the conversation$'
    ;;
  kv_kinds)
    run "$model" "$text $text $text"
    expect 3 '^(dynamic|static|sliding, the whole text): [0-9]+ bytes .*, the same answer$'
    expect 7 '^[a-z0-9, ]+: [1-9][0-9]* bytes for [0-9]+ tokens, (the same|another) answer$'
    ;;
  many_threads)
    run "$model"
    expect 1 '^6 requests one by one: .* s; at once: .* s; the same answers$'
    ;;
  session_on_disk)
    run "$model" "$work/conversation.quire"
    expect 1 '^\[[1-9][0-9]* of [0-9]+ prompt tokens came from the file; the same answer as without'
    ;;
  shared_prefix)
    run "$model"
    expect 2 'prompt tokens came from the snapshot; the answer is the one without it\]$'
    ;;
  user_embedder)
    run
    expect 1 '^  Settings, Security, Reset password\.$'
    expect 1 '^  none: below_threshold$'
    ;;
  user_kv_cache)
    run "$data/models/llama"
    expect 1 '^with room for all: the same answer$'
    ;;
  *)
    echo "example.sh does not know what $name does"
    exit 1
    ;;
esac
