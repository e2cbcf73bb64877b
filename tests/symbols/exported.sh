#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# exported.sh NM LIBRARY: everything that the library exports is in namespace quire. A symbol of a
# library linked into it (FLAGS_, absl, protobuf, sentencepiece, std templates) could bind to
# another copy of that library in the host's process.
set -eu
exported=$("$1" -D -C --defined-only "$2" | cut -c 20-)
ours='^((vtable|typeinfo|typeinfo name) for )?quire::'
strays=$(printf '%s\n' "$exported" | grep -v -E "$ours" || true)
if [ -n "$strays" ]; then
  printf '%s exports:\n%s\n' "$2" "$strays"
  exit 1
fi
printf '%s\n' "$exported" | grep -q '^quire::Tokenizer::load(' ||
  { echo "$2 does not export quire::Tokenizer::load"; exit 1; }
