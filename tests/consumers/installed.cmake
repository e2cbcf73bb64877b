# SPDX-License-Identifier: Apache-2.0
#
# What was installed: all public headers and no others, nothing that names the folders it was built
# in, a program that runs, and of a shared library how it finds libtorch and what it exports.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

run(diff -r ${SOURCE}/include ${PREFIX}/include)
file(GLOB_RECURSE texts ${PREFIX}/*.cmake ${PREFIX}/*.pc)
foreach(file IN LISTS texts)
  file(READ ${file} text)
  foreach(folder ${SOURCE} ${BUILD} ${PREFIX})
    string(FIND "${text}" ${folder}/ place)
    if(NOT place EQUAL -1)
      message(FATAL_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()
run(${PREFIX}/bin/quire --version)
if(KIND STREQUAL "static")
  return()
endif()

file(GLOB_RECURSE library ${PREFIX}/*/libquire.so)
execute_process(COMMAND ${READELF} -d ${library} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
if(NOT dynamic MATCHES "RUNPATH[^[]*\\[([^]]*)\\]" OR NOT CMAKE_MATCH_1 STREQUAL "${LIBTORCH}/lib")
  message(FATAL_ERROR "expected the run path ${LIBTORCH}/lib, found '${CMAKE_MATCH_1}'")
endif()
execute_process(COMMAND ldd ${library} OUTPUT_VARIABLE loaded COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${loaded}" "libtorch_cpu.so => ${LIBTORCH}/lib/libtorch_cpu.so" place)
if(place EQUAL -1 OR loaded MATCHES "not found")
  message(FATAL_ERROR "${library} is loaded with\n${loaded}")
endif()
run(sh ${SOURCE}/tests/symbols/exported.sh ${NM} ${library})
