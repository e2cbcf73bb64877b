# SPDX-License-Identifier: Apache-2.0
#
# Every dependency and its reason. Nothing else may be linked without a line here.
#
#   libtorch       tensors, CUDA, oneDNN                      placed by cmake/setup.sh, or your own
#   SentencePiece  tokenizer.model files                      built static and hidden by setup.sh
#   PCRE2          pre-tokeniser patterns: Unicode classes, look-ahead, JIT, match limits
#   utf8proc       Unicode normal forms and case
#   xxHash         keys, checksums, fingerprints
#   nlohmann/json  config.json, tokenizer.json, chat contexts
#   GoogleTest, Google Benchmark, CLI11: tests, bench and programs only, never the library

# Where cmake/setup.sh places libtorch and SentencePiece: -DQUIRE_HOME, else the environment's.
if(NOT QUIRE_HOME)
  set(QUIRE_HOME $ENV{QUIRE_HOME})
endif()
if(NOT QUIRE_HOME)
  set(QUIRE_HOME $ENV{HOME}/.cache/quire)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Libtorch REQUIRED)
find_package(SentencePieceStatic REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

if(QUIRE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(QUIRE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()
if(QUIRE_BUILD_EXAMPLES)
  find_package(CLI11 REQUIRED)
endif()
