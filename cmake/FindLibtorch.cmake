# Finds libtorch 2.11 or later and defines Libtorch::Libtorch (headers, libtorch_cpu, libc10; with
# a CUDA build also libtorch_cuda and libc10_cuda, so that the CUDA backend registers itself).
#
# Looked for, in order: Torch_DIR (…/share/cmake/Torch) and CMAKE_PREFIX_PATH, then
# QUIRE_HOME/libtorch, which cmake/setup.sh fills. libtorch's own TorchConfig.cmake is not used: it
# fails without a CUDA toolkit even when only the CPU is wanted.
set(_libtorch_hints)
if(Torch_DIR)
  list(APPEND _libtorch_hints ${Torch_DIR}/../../..)
endif()
foreach(_prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND _libtorch_hints ${_prefix} ${_prefix}/torch ${_prefix}/../..)
endforeach()
file(GLOB _libtorch_placed ${QUIRE_HOME}/libtorch/*/torch)
list(SORT _libtorch_placed COMPARE NATURAL ORDER DESCENDING)
list(APPEND _libtorch_hints ${_libtorch_placed})

find_path(Libtorch_INCLUDE_DIR ATen/core/Tensor.h
  HINTS ${_libtorch_hints} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(Libtorch_CPU_LIBRARY torch_cpu
  HINTS ${_libtorch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(Libtorch_C10_LIBRARY c10
  HINTS ${_libtorch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(Libtorch_CUDA_LIBRARY torch_cuda
  HINTS ${_libtorch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(Libtorch_C10_CUDA_LIBRARY c10_cuda
  HINTS ${_libtorch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)

set(_version_header ${Libtorch_INCLUDE_DIR}/torch/headeronly/version.h)
if(EXISTS ${_version_header})
  file(STRINGS ${_version_header} _lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
  string(REGEX MATCHALL "[0-9]+" Libtorch_VERSION "${_lines}")
  list(JOIN Libtorch_VERSION "." Libtorch_VERSION)
endif()
if(Libtorch_VERSION AND Libtorch_VERSION VERSION_LESS 2.11)
  message(FATAL_ERROR "libtorch ${Libtorch_VERSION} at ${Libtorch_INCLUDE_DIR} is too old: "
                      "2.11 or later is needed")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libtorch
  REQUIRED_VARS Libtorch_CPU_LIBRARY Libtorch_C10_LIBRARY Libtorch_INCLUDE_DIR
  VERSION_VAR Libtorch_VERSION
  REASON_FAILURE_MESSAGE "Run cmake/setup.sh, or set Torch_DIR or CMAKE_PREFIX_PATH.")

if(Libtorch_FOUND AND NOT TARGET Libtorch::Libtorch)
  add_library(Libtorch::c10 SHARED IMPORTED)
  set_target_properties(Libtorch::c10 PROPERTIES IMPORTED_LOCATION ${Libtorch_C10_LIBRARY})
  add_library(Libtorch::cpu SHARED IMPORTED)
  set_target_properties(Libtorch::cpu PROPERTIES IMPORTED_LOCATION ${Libtorch_CPU_LIBRARY})
  add_library(Libtorch::Libtorch INTERFACE IMPORTED)
  target_include_directories(Libtorch::Libtorch SYSTEM INTERFACE ${Libtorch_INCLUDE_DIR})
  target_link_libraries(Libtorch::Libtorch INTERFACE Libtorch::cpu Libtorch::c10)
  if(Libtorch_CUDA_LIBRARY AND Libtorch_C10_CUDA_LIBRARY)
    # Nothing in our code names a CUDA symbol; without --no-as-needed the linker would drop it.
    target_link_libraries(Libtorch::Libtorch INTERFACE
      -Wl,--push-state,--no-as-needed ${Libtorch_CUDA_LIBRARY} ${Libtorch_C10_CUDA_LIBRARY}
      -Wl,--pop-state)
  endif()
endif()
mark_as_advanced(Libtorch_INCLUDE_DIR Libtorch_CPU_LIBRARY Libtorch_C10_LIBRARY
                 Libtorch_CUDA_LIBRARY Libtorch_C10_CUDA_LIBRARY)
