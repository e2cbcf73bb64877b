# SPDX-License-Identifier: Apache-2.0
#
# A consumer without CMake: a compiler and pkg-config.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(work ${BUILD}-${NAME})
file(MAKE_DIRECTORY ${work})
file(GLOB_RECURSE pc ${PREFIX}/*/quire.pc)
get_filename_component(folder ${pc} DIRECTORY)
get_filename_component(libraries ${folder} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
set(ENV{LD_LIBRARY_PATH} ${libraries})

execute_process(COMMAND pkg-config --cflags quire OUTPUT_VARIABLE flags
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(REAL_PATH ${PREFIX}/include headers)
string(REGEX REPLACE "^-I" "" included "${flags}")
file(REAL_PATH "${included}" included)
if(NOT included STREQUAL headers)
  message(FATAL_ERROR "expected the headers in ${headers} alone, found ${flags}")
endif()
run(sh -c "'${CXX}' -std=c++20 '${SOURCE}/examples/hello.cc' $(pkg-config --cflags --libs quire) \
-o '${work}/hello'")
run_hello(${work}/hello)
