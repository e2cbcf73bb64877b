# SPDX-License-Identifier: Apache-2.0
#
# What the scripts of this folder share.

# run(COMMAND...): shows what it does; a failure ends the script.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# run_hello(PROGRAM): examples/hello.cc on a tiny model answers with so many tokens.
function(run_hello program)
  execute_process(
    COMMAND ${program} ${SOURCE}/tests/data/models/llama-q4_k_m-mixture.gguf "Hello"
    OUTPUT_VARIABLE output COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "\n25 tokens\n$")  # five letters, and twenty new ones
    message(FATAL_ERROR "hello printed:\n${output}")
  endif()
endfunction()
