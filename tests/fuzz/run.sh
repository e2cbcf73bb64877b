#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/fuzz/run.sh [SECONDS] [TARGET...]: fuzzes each target (default: all) with libFuzzer under the
# address and undefined-behaviour sanitizers until it has had SECONDS (default 600) of every
# processor, however busy they are with other things, and prints what was run as a table. Needs
# a clang that knows std::source_location, with its compiler-rt (Debian packages clang-19 and
# libclang-rt-19-dev). Findings stay in
# build/fuzz/findings/TARGET; a corpus grows in build/fuzz/corpus/TARGET and is used again.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1-600}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] ||
  targets=(gguf safetensors index config tokenizer_json sentencepiece template snapshot text server)

command -v clang++-19 >/dev/null ||
  { echo "there is no clang++-19; install clang-19 and libclang-rt-19-dev" >&2; exit 1; }
cmake/build.sh fuzz
python3 -B tests/fuzz/seeds.py build/fuzz/seeds

# Inputs become files: in memory, where that can be.
scratch=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$scratch"' EXIT

processors=$(nproc)

# Fuzzes TARGET for some seconds into $scratch/log; prints the processor seconds that it took. To be
# run in a subshell, whose children count.
fuzz() {
  local target=$1 limit=$2 program=quire_fuzz status=0
  [ "$target" != server ] || program=quire_fuzz_server
  (cd build/fuzz && TMPDIR=$scratch ASAN_OPTIONS=allocator_may_return_null=1 \
    UBSAN_OPTIONS=print_stacktrace=1 exec "bin/$program" --target="$target" \
    -max_total_time="$limit" -fork="$processors" -timeout=20 -rss_limit_mb=4096 \
    -artifact_prefix="findings/$target/" "corpus/$target" "seeds/$target") \
    > "$scratch/log" 2>&1 || status=$?
  times > "$scratch/times"  # of this shell; of its children: "1m2.3s 0m0.4s"
  awk -F'[ms ]' 'NR == 2 { printf "%d\n", 60 * ($1 + $4) + $2 + $5 }' "$scratch/times"
  return $status
}

failed=0
echo "| target | executions | coverage (edges) | processor seconds | findings |"
echo "| --- | --- | --- | --- | --- |"
for target in "${targets[@]}"; do
  log=build/fuzz/$target.log findings=build/fuzz/findings/$target
  mkdir -p "build/fuzz/corpus/$target" "$findings"
  : > "$log"
  spent=0 executions=0 edges=0 status=0
  while [ $spent -lt $((seconds * processors)) ] && [ $status -eq 0 ]; do
    took=$(fuzz "$target" $(((seconds * processors - spent + processors - 1) / processors))) ||
      status=$?
    spent=$((spent + took))
    cat "$scratch/log" >> "$log"
    # The last line of progress, if there is one: "#12345: cov: 678 ft: 910 …".
    more=$(sed -nE 's/^#([0-9]+): cov: ([0-9]+) .*/\1 \2/p' "$scratch/log" | tail -1)
    [ -z "$more" ] || { executions=$((executions + ${more% *})); edges=${more#* }; }
  done
  found=$(find "$findings" -type f | wc -l)
  echo "fuzzed: $executions executions, $edges edges, $spent processor seconds" >> "$log"
  echo "| $target | $executions | $edges | $spent | $found |"
  [ $status -eq 0 ] && [ "$found" -eq 0 ] || { failed=1; echo "$target: see $log" >&2; }
done
exit $failed
