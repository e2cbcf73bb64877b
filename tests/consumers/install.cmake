# SPDX-License-Identifier: Apache-2.0
#
# Installs Quire of one KIND into PREFIX: this build if it is OWN, else one beside it, whose objects
# are the same and come from ccache if there is one.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${PREFIX})
if(KIND STREQUAL OWN)
  set(build ${BUILD})
else()
  set(build ${BUILD}-${KIND})
  set(shared OFF)
  if(KIND STREQUAL "shared")
    set(shared ON)
  endif()
  run(${CMAKE_COMMAND} -C ${SETTINGS} -G ${GENERATOR} -S ${SOURCE} -B ${build}
    -DBUILD_SHARED_LIBS=${shared} -DQUIRE_BUILD_TESTS=OFF -DQUIRE_BUILD_BENCH=OFF)
endif()
run(${CMAKE_COMMAND} --build ${build} --target quire quire_program)
run(${CMAKE_COMMAND} --install ${build} --prefix ${PREFIX})
