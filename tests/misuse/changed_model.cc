// SPDX-License-Identifier: Apache-2.0
// refused: passing .*const.* discards qualifiers|no matching function|assignment of
// A loaded model never changes, so threads may share it.
#include <quire/model.h>

void use() {
  const std::shared_ptr<const quire::Model> model = quire::Model::load("model");
  model->config().context = 1;  // misuse
}
