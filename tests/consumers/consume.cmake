# SPDX-License-Identifier: Apache-2.0
#
# Builds the consumer PROJECT, as README would have its reader do, in a folder of its own, and runs
# its program. With PREFIX it finds an installed Quire there.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(work ${BUILD}-${NAME})
set(project ${work}/source)
file(REMOVE_RECURSE ${project})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/${PROJECT}/CMakeLists.txt
  ${SOURCE}/examples/hello.cc ${SOURCE}/examples/user_kv_cache.cc DESTINATION ${project})

set(options -DQUIRE_SOURCE=${SOURCE})
if(PREFIX)
  set(options -DCMAKE_PREFIX_PATH=${PREFIX})
endif()
# Beside the build, not in it, so that ccache sees the paths that it knows.
run(${CMAKE_COMMAND} -C ${SETTINGS} -G ${GENERATOR} --fresh -S ${project} -B ${work}
  ${options} -DQUIRE_HAS_REDIS=${REDIS} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON --no-warn-unused-cli)
if(PROJECT STREQUAL "refused")
  return()
endif()
run(${CMAKE_COMMAND} --build ${work} --parallel 2)

if(PROJECT STREQUAL "tensors")
  run(${work}/user_kv_cache ${SOURCE}/tests/data/models/llama)
  return()
endif()
run_hello(${work}/hello)

# Nothing but our own headers and C++'s were in reach.
file(READ ${work}/compile_commands.json commands)
string(REGEX MATCH "\"command\": \"[^\n]*source/hello\\.cc\"" command "${commands}")
string(REGEX MATCHALL " -(I|isystem) *[^ ]+" folders "${command}")
list(TRANSFORM folders STRIP)
set(expected -I${SOURCE}/include)
if(PREFIX)
  set(expected "-isystem ${PREFIX}/include")
endif()
if(NOT folders STREQUAL expected)
  message(FATAL_ERROR "expected ${expected}, found '${folders}' in\n${command}")
endif()
