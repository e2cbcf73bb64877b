#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/fuzz/run.sh [SECONDS] [TARGET...]: fuzzes each target (default: all) for SECONDS (default
# 600) with libFuzzer under the address and undefined-behaviour sanitizers, on all processors, and
# prints what was run as a table. Needs clang with its compiler-rt (Debian packages clang and
# libclang-rt-dev). Findings stay in build/fuzz/findings/TARGET; a corpus grows in
# build/fuzz/corpus/TARGET and is used again.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1-600}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] ||
  targets=(gguf safetensors index config tokenizer_json sentencepiece template snapshot text server)

command -v clang++ >/dev/null ||
  { echo "there is no clang++; install the packages clang and libclang-rt-dev" >&2; exit 1; }
cmake/build.sh fuzz
python3 -B tests/fuzz/seeds.py build/fuzz/seeds

# Inputs become files: in memory, where that can be.
scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT

failed=0
echo "| target | executions | coverage (edges) | findings |"
echo "| --- | --- | --- | --- |"
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target findings=build/fuzz/findings/$target log=build/fuzz/$target.log
  mkdir -p "$corpus" "$findings"
  program=quire_fuzz
  [ "$target" != server ] || program=quire_fuzz_server
  status=0
  (cd build/fuzz && TMPDIR=$scratch ASAN_OPTIONS=allocator_may_return_null=1 \
    UBSAN_OPTIONS=print_stacktrace=1 "bin/$program" --target="$target" \
    -max_total_time="$seconds" -fork="$(nproc)" -timeout=20 -rss_limit_mb=4096 \
    -artifact_prefix="findings/$target/" "corpus/$target" "seeds/$target") > "$log" 2>&1 || status=$?
  # The last line of progress: "#12345: cov: 678 ft: 910 …".
  last=$(grep -aE '^#[0-9]+: cov: ' "$log" | tail -1 || true)
  found=$(find "$findings" -type f | wc -l)
  echo "| $target | $(sed -E 's/^#([0-9]+):.*/\1/' <<< "$last") |" \
    "$(sed -E 's/.* cov: ([0-9]+) .*/\1/' <<< "$last") | $found |"
  [ $status -eq 0 ] && [ "$found" -eq 0 ] || { failed=1; echo "$target: see $log" >&2; }
done
exit $failed
