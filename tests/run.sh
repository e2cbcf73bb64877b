#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/run.sh [--full] [--sanitize]
#
# Prepares the machine, builds the dev preset, fetches the models that the tests use and runs the
# tests labelled fast. --full adds those labelled full: what takes long or needs more. --sanitize
# runs the tests under the asan preset and those with threads under the tsan preset too.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

models=(smollm2 minilm)
labels=fast
presets=(dev)
for argument in "$@"; do
  case $argument in
    --full) models+=(gemma3) labels='fast|full' ;;
    --sanitize) presets+=(asan tsan) ;;
    *) sed -n '4,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

say() { echo "tests: $*" >&2; }

[[ $labels == fast ]] || cmake/setup.sh --full
cmake/build.sh dev
for model in "${models[@]}"; do
  build/dev/bin/quire pull "$model" >&2 || say "no $model: the tests that use it will fail"
done

failed=()
for preset in "${presets[@]}"; do
  [[ $preset == dev ]] || cmake/build.sh "$preset"
  prefix=()
  # ThreadSanitizer cannot place its shadow memory where the kernel randomises addresses widely.
  [[ $preset != tsan ]] || ! setarch -R true 2>/dev/null || prefix=(setarch -R)
  start=$SECONDS
  "${prefix[@]}" ctest --preset "$preset" --label-regex "^($labels)$" --parallel "$(nproc)" ||
    failed+=("$preset")
  say "$preset: ctest took $((SECONDS - start)) s"
done
say "$((SECONDS)) s in all"
[[ ${#failed[@]} == 0 ]] || { say "failed: ${failed[*]}"; exit 1; }
