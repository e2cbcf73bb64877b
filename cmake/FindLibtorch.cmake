# SPDX-License-Identifier: Apache-2.0
#
# Finds libtorch 2.11 or later and defines Libtorch::Libtorch (headers, libtorch_cpu, libc10; with
# a CUDA build also libtorch_cuda and libc10_cuda, so that the CUDA backend registers itself).
#
# Looked for, in order: Libtorch_FOLDER, which an installed Quire sets to the one it was built with,
# Torch_DIR, CMAKE_PREFIX_PATH, and QUIRE_HOME/libtorch, which cmake/setup.sh fills. Everything comes from one folder. libtorch's own TorchConfig.cmake is not used: it fails
# without a CUDA toolkit even when only the CPU is wanted.
include(${CMAKE_CURRENT_LIST_DIR}/libtorch_location.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/quire_home.cmake)

if(NOT Libtorch_FOLDER)
  quire_given_libtorch(Libtorch_FOLDER)
endif()
if(NOT Libtorch_FOLDER)
  file(GLOB _libtorch_placed ${QUIRE_HOME}/libtorch/*/torch)
  list(SORT _libtorch_placed COMPARE NATURAL ORDER DESCENDING)
  list(APPEND _libtorch_placed "")
  list(GET _libtorch_placed 0 Libtorch_FOLDER)
endif()
if(Libtorch_FOLDER)
  quire_libtorch_at(${Libtorch_FOLDER} Libtorch_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libtorch
  REQUIRED_VARS Libtorch_FOLDER Libtorch_VERSION
  VERSION_VAR Libtorch_VERSION
  REASON_FAILURE_MESSAGE "Run cmake/setup.sh, or set Torch_DIR or CMAKE_PREFIX_PATH.")

set(Libtorch_LINK_FLAGS -ltorch_cpu -lc10)  # for quire.pc
if(EXISTS ${Libtorch_FOLDER}/lib/libtorch_cuda.so)
  list(APPEND Libtorch_LINK_FLAGS
    -Wl,--push-state,--no-as-needed -ltorch_cuda -lc10_cuda -Wl,--pop-state)
endif()

if(Libtorch_FOUND AND NOT TARGET Libtorch::Libtorch)
  add_library(Libtorch::Libtorch INTERFACE IMPORTED)
  target_include_directories(Libtorch::Libtorch SYSTEM INTERFACE ${Libtorch_FOLDER}/include)
  foreach(_library torch_cpu c10)
    add_library(Libtorch::${_library} SHARED IMPORTED)
    set_target_properties(Libtorch::${_library} PROPERTIES
      IMPORTED_LOCATION ${Libtorch_FOLDER}/lib/lib${_library}.so)
    target_link_libraries(Libtorch::Libtorch INTERFACE Libtorch::${_library})
  endforeach()
  if(EXISTS ${Libtorch_FOLDER}/lib/libtorch_cuda.so)
    # Nothing in our code names a CUDA symbol; without --no-as-needed the linker would drop it.
    target_link_libraries(Libtorch::Libtorch INTERFACE
      -Wl,--push-state,--no-as-needed
      ${Libtorch_FOLDER}/lib/libtorch_cuda.so ${Libtorch_FOLDER}/lib/libc10_cuda.so
      -Wl,--pop-state)
  endif()
endif()
