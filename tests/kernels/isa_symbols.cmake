# cmake -DNM=nm -DOBJECTS="a.o;b.o" -P isa_symbols.cmake
#
# An object compiled for one instruction set may define one symbol for others to link: its table. An
# inline function or template instance beside it could be the copy that the linker keeps for the
# whole program, which then fails on machines without these instructions.
foreach(object IN LISTS OBJECTS)
  if(NOT object MATCHES "_(portable|avx2|avx512)\\.cc\\.o")
    continue()
  endif()
  execute_process(COMMAND ${NM} --defined-only --extern-only --demangle ${object}
    OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "\n$" "" lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  list(FILTER lines EXCLUDE REGEX " __odr_asan")  # of the address sanitizer
  list(LENGTH lines count)
  if(NOT count EQUAL 1 OR NOT lines MATCHES " [DR] quire::k[A-Za-z]+(Portable|Avx2|Avx512)$")
    message(SEND_ERROR "${object} defines other than its table: ${lines}")
  endif()
  list(APPEND seen ${object})
endforeach()
list(LENGTH seen count)
message(STATUS "${count} objects checked")
if(count LESS 2)
  message(FATAL_ERROR "found too few objects for an instruction set")
endif()
