# SPDX-License-Identifier: Apache-2.0
#
# Every dependency and its reason. Nothing else may be linked without a line here.
#
# The library:
#   libtorch       tensors, oneDNN, CUDA: what the models run on. Placed by setup.sh, or your own.
#   SentencePiece  tokenizer.model files: their normaliser and Viterbi search are defined by this
#                  code. Built static and hidden by setup.sh, since Debian's corrupts libtorch.
#   PCRE2          the patterns that tokenizers split text by need Unicode classes and look-ahead,
#                  and must not hang on a hostile text: JIT and match limits
#   utf8proc       Unicode normal forms and case folding of tokenizers' normalisers
#   Eigen          exact scans of unit vectors: products of a matrix at memory speed, headers only
#   xxHash         keys, checksums and fingerprints at memory speed
#   SQLite         files that survive a crash and are shared by processes: the prefix cache's disk tier
#   hiredis        what machines share by a Redis: the prefix cache's tier, a level of answers; optional
#   nlohmann/json  config.json, tokenizer.json, chat contexts
# Tests, benchmarks and programs only:
#   GoogleTest, Google Benchmark, CLI11 (the program's options), zlib (its traces), cpp-httplib (the
#   server: HTTP without a framework; Debian's is compiled, so that its header is cheap), Python

# A parent project that adds this one as a subdirectory sees the targets too.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Libtorch REQUIRED)
find_package(SentencePieceStatic REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET GLOBAL libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET GLOBAL libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
pkg_check_modules(HIREDIS IMPORTED_TARGET GLOBAL hiredis)
if(HIREDIS_FOUND)
  # It asks for -D_FILE_OFFSET_BITS=64, which 64-bit machines need not and precompiled headers refuse.
  set_property(TARGET PkgConfig::HIREDIS PROPERTY INTERFACE_COMPILE_OPTIONS "")
endif()
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET GLOBAL sqlite3)

if(QUIRE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(QUIRE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
if(QUIRE_BUILD_EXAMPLES)
  find_package(CLI11 REQUIRED)
  find_package(ZLIB REQUIRED)
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
endif()
