# SPDX-License-Identifier: Apache-2.0
#
# cmake -DROOT=DIR -P readme.cmake: README.md shows examples/hello.cc as it is.
cmake_minimum_required(VERSION 3.25)
file(READ ${ROOT}/README.md readme)
file(READ ${ROOT}/examples/hello.cc example)
string(REGEX REPLACE "^// SPDX[^\n]*\n" "" example "${example}")
string(FIND "${readme}" "```cpp\n${example}```" place)
if(place EQUAL -1)
  message(FATAL_ERROR "README.md does not show examples/hello.cc as it is")
endif()
