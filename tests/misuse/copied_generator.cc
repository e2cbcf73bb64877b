// SPDX-License-Identifier: Apache-2.0
// refused: use of deleted function .*Generator\(const
#include <quire/generator.h>

void use(quire::Generator& generator) {
  quire::Generator copy = generator;  // misuse
}
