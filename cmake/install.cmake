# SPDX-License-Identifier: Apache-2.0
#
# cmake --install: the library, its headers, the program, find_package(quire) and quire.pc.
# An installed static library brings SentencePiece along and finds the rest of what it is linked
# with; a shared one has everything inside or finds it by its run path.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/quire)
install(TARGETS quire EXPORT quireTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/quire TYPE INCLUDE)
install(EXPORT quireTargets NAMESPACE quire:: DESTINATION ${package_folder})

# "PCRE2=libpcre2-8", …: the dependencies that pkg-config finds.
set(quire_modules)
set(quire_pc_libraries)
get_property(dependencies GLOBAL PROPERTY QUIRE_DEPENDENCIES)
list(REMOVE_DUPLICATES dependencies)
foreach(dependency IN LISTS dependencies)
  if(dependency MATCHES "^PkgConfig::(.*)$")
    set(name ${CMAKE_MATCH_1})
    list(APPEND quire_modules ${name}=${${name}_MODULE_NAME})
    list(APPEND quire_pc_libraries ${${name}_LDFLAGS})
  endif()
endforeach()

if(BUILD_SHARED_LIBS)
  set(quire_shared TRUE)
  set(quire_pc_libraries)
else()
  set(quire_shared FALSE)
  install(FILES ${SentencePieceStatic_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR}/quire)
  get_filename_component(quire_sentencepiece ${SentencePieceStatic_LIBRARY} NAME)
  list(PREPEND quire_pc_libraries -L\${libdir}/quire -l:${quire_sentencepiece})
  list(APPEND quire_pc_libraries
    -L${Libtorch_FOLDER}/lib -Wl,-rpath,${Libtorch_FOLDER}/lib ${Libtorch_LINK_FLAGS} -pthread)
endif()
list(JOIN quire_pc_libraries " " quire_pc_libraries)
if(HIREDIS_FOUND)
  set(quire_redis TRUE)
else()
  set(quire_redis FALSE)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/quireConfig.cmake.in quireConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(quireConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/quireConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/quireConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindLibtorch.cmake
  ${CMAKE_CURRENT_LIST_DIR}/libtorch_location.cmake
  ${CMAKE_CURRENT_LIST_DIR}/quire_home.cmake
  DESTINATION ${package_folder})

file(RELATIVE_PATH quire_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" quire_up ${quire_up})
configure_file(${CMAKE_CURRENT_LIST_DIR}/quire.pc.in quire.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/quire.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
