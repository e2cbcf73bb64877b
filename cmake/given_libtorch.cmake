# SPDX-License-Identifier: Apache-2.0
#
# cmake -P given_libtorch.cmake prints the libtorch that the environment leads to, or nothing.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/libtorch_location.cmake)
quire_given_libtorch(folder)
if(folder)
  message(NOTICE "${folder}")
endif()
