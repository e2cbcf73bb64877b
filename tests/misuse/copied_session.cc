// SPDX-License-Identifier: Apache-2.0
// refused: use of deleted function .*Session\(const
// A conversation is branched by fork().
#include <quire/session.h>

void use(quire::Session& session) {
  quire::Session copy = session;  // misuse
  quire::Session branch = session.fork();
}
