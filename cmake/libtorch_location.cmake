# SPDX-License-Identifier: Apache-2.0
#
# quire_libtorch_at(FOLDER OUT_VERSION)
#
# Sets OUT_VERSION to the version of the libtorch in FOLDER (which holds include/ and lib/), or to
# nothing when there is none. One older than 2.11, or of no known version, is an error.
function(quire_libtorch_at folder out_version)
  set(${out_version} "" PARENT_SCOPE)
  foreach(file include/ATen/core/Tensor.h lib/libtorch_cpu.so lib/libc10.so)
    if(NOT EXISTS ${folder}/${file})
      return()
    endif()
  endforeach()
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS ${folder}/include/${header})
      file(STRINGS ${folder}/include/${header} lines
        REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
      string(REGEX MATCHALL "[0-9]+" version "${lines}")
      list(JOIN version "." version)
    endif()
    if(version)
      break()
    endif()
  endforeach()
  if(NOT version VERSION_GREATER_EQUAL 2.11)
    message(FATAL_ERROR
      "libtorch '${version}' at ${folder} is too old: 2.11 or later is needed")
  endif()
  set(${out_version} ${version} PARENT_SCOPE)
endfunction()

# quire_given_libtorch(OUT_FOLDER)
#
# Sets OUT_FOLDER to the libtorch that Torch_DIR (…/share/cmake/Torch) or CMAKE_PREFIX_PATH leads
# to, variables of CMake before those of the environment, or to nothing. A Torch_DIR that leads to
# none is an error; a prefix path may be there for other packages.
function(quire_given_libtorch out_folder)
  set(${out_folder} "" PARENT_SCOPE)
  if(NOT Torch_DIR)
    set(Torch_DIR $ENV{Torch_DIR})
  endif()
  set(folders)
  if(Torch_DIR)
    list(APPEND folders ${Torch_DIR}/../../..)
  endif()
  string(REPLACE ":" ";" prefixes "$ENV{CMAKE_PREFIX_PATH}")
  foreach(prefix IN LISTS CMAKE_PREFIX_PATH prefixes)
    # The root itself; a folder of Python packages; what torch.utils.cmake_prefix_path names.
    list(APPEND folders ${prefix} ${prefix}/torch ${prefix}/../..)
  endforeach()
  foreach(folder IN LISTS folders)
    quire_libtorch_at(${folder} version)
    if(version)
      file(REAL_PATH ${folder} folder)
      set(${out_folder} ${folder} PARENT_SCOPE)
      return()
    endif()
    if(Torch_DIR)
      message(FATAL_ERROR "Torch_DIR is ${Torch_DIR}, but ${folder} holds no libtorch")
    endif()
  endforeach()
endfunction()
