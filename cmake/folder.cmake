# SPDX-License-Identifier: Apache-2.0
#
# quire_folder(NAME SOURCES a.cc b.cc [TORCH] [LINK targets...])
#
# One folder of src/ as an object library quire_<NAME>. TORCH adds libtorch's headers and a
# precompiled ATen/core/Tensor.h, which all such folders share; the others cannot include a tensor
# by accident. Every folder's objects end up in quire::quire, and tests link them directly to reach
# internals.
function(quire_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH" "" "SOURCES;LINK")
  if(NOT arg_SOURCES)
    return()
  endif()
  set(target quire_${name})
  add_library(${target} OBJECT ${arg_SOURCES})
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE quire_warnings quire_sanitizers PUBLIC ${arg_LINK})
  if(arg_TORCH)
    target_link_libraries(${target} PUBLIC Libtorch::Libtorch)
    target_compile_definitions(${target} PRIVATE
      AT_PER_OPERATOR_HEADERS TORCH_ASSERT_ONLY_METHOD_OPERATORS)
    get_property(owner GLOBAL PROPERTY QUIRE_PRECOMPILED_TENSOR)
    if(owner)
      target_precompile_headers(${target} REUSE_FROM ${owner})
    else()
      target_precompile_headers(${target} PRIVATE <ATen/core/Tensor.h>)
      set_property(GLOBAL PROPERTY QUIRE_PRECOMPILED_TENSOR ${target})
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY QUIRE_FOLDERS ${target})
  set_property(GLOBAL APPEND PROPERTY QUIRE_DEPENDENCIES ${arg_LINK})
endfunction()

# quire_test_folder(NAME FOLDERS io text... SOURCES a_test.cc... [LABELS labels...] [LINK targets...])
#
# The tests of one folder as one executable quire_<NAME>_test (loading libtorch costs 0.2 s a
# process), linked with the objects of FOLDERS and registered with ctest as <NAME>.
function(quire_test_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;SOURCES;LABELS;LINK")
  set(target quire_${name}_test)
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE
    QUIRE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    AT_PER_OPERATOR_HEADERS TORCH_ASSERT_ONLY_METHOD_OPERATORS)
  list(TRANSFORM arg_FOLDERS PREPEND quire_)
  target_link_libraries(${target} PRIVATE
    ${arg_FOLDERS} quire_warnings quire_sanitizers GTest::gmock_main Threads::Threads ${arg_LINK})
  if(NOT arg_LABELS)
    set(arg_LABELS fast)
  endif()
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()
