# SPDX-License-Identifier: Apache-2.0
#
# Warnings for our own targets: quire_warnings is linked privately, never exported.
add_library(quire_warnings INTERFACE)
target_compile_options(quire_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wunused -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough)
# GCC 12 takes the inlined std::string operator+ for overlapping or endless copies (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(quire_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow)
endif()
if(QUIRE_WARNINGS_AS_ERRORS)
  target_compile_options(quire_warnings INTERFACE -Werror)
endif()
