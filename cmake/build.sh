#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cmake/build.sh PRESET [TARGET...]: set-up, configuration and build, for the scripts of this tree.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=$1
shift
cmake/setup.sh
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Only a failure is worth the reading; the compiler's progress is always.
cmake --preset "$preset" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
start=$SECONDS
cmake --build --preset "$preset" --parallel "$(nproc)" ${1:+--target "$@"} >&2
echo "build: $preset took $((SECONDS - start)) s" >&2
