// SPDX-License-Identifier: Apache-2.0
// refused: cannot bind non-const lvalue reference
// The generator must outlive its sessions.
#include <quire/session.h>

quire::Session use(std::shared_ptr<const quire::Model> model, quire::Generator& generator) {
  return quire::Session(quire::Generator(model));  // misuse
  return quire::Session(generator);
}
