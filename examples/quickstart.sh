#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# examples/quickstart.sh [PROMPT]: from a fresh clone to a model's answer. Prepares the machine
# (cmake/setup.sh), builds the release preset, fetches SmolLM2-135M-Instruct and lets it go on from
# the prompt. Every step is done once; a second run only answers.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

prompt=${1-The capital of France is}
quire=build/release/bin/quire

cmake/build.sh release bin/quire
"$quire" pull smollm2 >&2
echo "quickstart: ready after $SECONDS s; $quire generate smollm2 --prompt \"$prompt\"" >&2
"$quire" generate smollm2 --prompt "$prompt" --max-new-tokens 64
echo "quickstart: done after $SECONDS s" >&2
