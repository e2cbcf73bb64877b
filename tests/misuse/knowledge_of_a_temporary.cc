// SPDX-License-Identifier: Apache-2.0
// refused: cannot bind non-const lvalue reference
#include <quire/knowledge_cache.h>

void use(std::shared_ptr<const quire::Model> model, quire::Generator& generator) {
  quire::KnowledgeCache lost(quire::Generator(model), {.texts = {"a"}});  // misuse
  quire::KnowledgeCache kept(generator, {.texts = {"a"}});
}
