#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# clients.sh PROGRAM FOLDER: clients_test.py, with the official clients in a virtual environment that
# is made in FOLDER.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1 folder=$2
packages=(openai==3.57.0 anthropic==2.14.0)

if [[ $(cat "$folder/stamp" 2>/dev/null || true) != "${packages[*]}" ]]; then
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/python" -m pip --disable-pip-version-check install --quiet "${packages[@]}"
  echo "${packages[*]}" >"$folder/stamp"
fi
exec "$folder/bin/python" -B "$here/clients_test.py" "$program"
