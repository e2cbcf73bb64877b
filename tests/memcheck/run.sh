#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# run.sh PROGRAM: runs it under valgrind's memcheck. Any invalid access, any use of an uninitialised
# value and any block that nothing points to any more is a failure, libtorch's included.
set -euo pipefail
command -v valgrind >/dev/null ||
  { echo "there is no valgrind; run: cmake/setup.sh --full" >&2; exit 1; }
exec valgrind --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
  --errors-for-leak-kinds=definite --num-callers=30 --fair-sched=yes "$@"
