# SPDX-License-Identifier: Apache-2.0
#
# For scripts that run examples on the packaged SmolLM2: $model, and expect OUTPUT FOUND.
model=${QUIRE_HOME:-$HOME/.cache/quire}/models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
[ -e "$model" ] || { echo "$model is missing: run quire pull smollm2"; exit 1; }

expect() {
  printf '%s\n' "$2"
  [ "$2" = "$1" ] || { printf 'expected:\n%s\n' "$1"; exit 1; }
}
