# SPDX-License-Identifier: Apache-2.0
#
# Finds the static SentencePiece that cmake/setup.sh builds and defines SentencePiece::static.
# A system SentencePiece is never used: see cmake/sentencepiece/CMakeLists.txt for why.
include(${CMAKE_CURRENT_LIST_DIR}/quire_home.cmake)
file(GLOB _sentencepiece_placed ${QUIRE_HOME}/sentencepiece/*)
list(SORT _sentencepiece_placed COMPARE NATURAL ORDER DESCENDING)
find_path(SentencePieceStatic_INCLUDE_DIR sentencepiece_processor.h
  HINTS ${_sentencepiece_placed} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(SentencePieceStatic_LIBRARY libsentencepiece_bundle.a
  HINTS ${_sentencepiece_placed} PATH_SUFFIXES lib NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SentencePieceStatic
  REQUIRED_VARS SentencePieceStatic_LIBRARY SentencePieceStatic_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Run cmake/setup.sh.")

if(SentencePieceStatic_FOUND AND NOT TARGET SentencePiece::static)
  add_library(SentencePiece::static STATIC IMPORTED)
  set_target_properties(SentencePiece::static PROPERTIES
    IMPORTED_LOCATION ${SentencePieceStatic_LIBRARY})
  target_include_directories(SentencePiece::static SYSTEM INTERFACE
    ${SentencePieceStatic_INCLUDE_DIR})
endif()
mark_as_advanced(SentencePieceStatic_INCLUDE_DIR SentencePieceStatic_LIBRARY)
