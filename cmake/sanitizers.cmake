# SPDX-License-Identifier: Apache-2.0
#
# quire_sanitizers instruments and links our own targets as QUIRE_SANITIZE asks; empty means none.
add_library(quire_sanitizers INTERFACE)
if(QUIRE_SANITIZE)
  list(JOIN QUIRE_SANITIZE "," sanitizers)
  target_compile_options(quire_sanitizers INTERFACE
    -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(quire_sanitizers INTERFACE -fsanitize=${sanitizers})
endif()
