# SPDX-License-Identifier: Apache-2.0
#
# Deliberately empty: the bundled abseil targets exist already.
