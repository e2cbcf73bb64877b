# SPDX-License-Identifier: Apache-2.0
#
# Merges every archive below FOLDER into OUTPUT.
file(REMOVE ${OUTPUT})
file(GLOB_RECURSE archives ${FOLDER}/*.a)
set(script "create ${OUTPUT}\n")
foreach(archive IN LISTS archives)
  string(APPEND script "addlib ${archive}\n")
endforeach()
string(APPEND script "save\nend\n")
file(WRITE ${OUTPUT}.mri "${script}")
execute_process(COMMAND ${AR} -M INPUT_FILE ${OUTPUT}.mri COMMAND_ERROR_IS_FATAL ANY)
