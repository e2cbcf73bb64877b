// SPDX-License-Identifier: Apache-2.0
// refused: use of deleted function .*Model\(const
#include <quire/model.h>

void use(const quire::Model& model) {
  auto copy = model;  // misuse
}
