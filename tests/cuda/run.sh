#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/cuda/run.sh: what is to be tried on a machine with an NVIDIA GPU: libtorch with its CUDA
# libraries, a release build, the tests named Cuda, and what `quire bench` makes of the packaged model
# on the GPU and beside it on the processor. Some minutes, most of them the build.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

command -v nvidia-smi >/dev/null || { echo "there is no nvidia-smi, so no GPU" >&2; exit 1; }
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader

cmake/setup.sh --cuda
cmake/build.sh release quire quire_generate_test
build/release/bin/quire pull smollm2 >&2
build/release/bin/quire_generate_test --gtest_filter='Cuda.*' | tee build/cuda_tests.log
if grep -q 'SKIPPED' build/cuda_tests.log; then
  echo "libtorch found no GPU" >&2
  exit 1
fi
for device in cuda cpu; do
  echo "== quire bench --device $device --dtype bf16"
  build/release/bin/quire bench smollm2 --device "$device" --dtype bf16 --no-peers
done
