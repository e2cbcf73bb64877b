# SPDX-License-Identifier: Apache-2.0
#
# Where cmake/setup.sh places libtorch and SentencePiece: -DQUIRE_HOME, else the environment's.
if(NOT QUIRE_HOME)
  set(QUIRE_HOME $ENV{QUIRE_HOME})
endif()
if(NOT QUIRE_HOME)
  set(QUIRE_HOME $ENV{HOME}/.cache/quire)
endif()
