// SPDX-License-Identifier: Apache-2.0
// refused: taking address of rvalue
// A shared prefix cache must outlive the generators.
#include <quire/generator.h>
#include <quire/prefix_cache.h>

void use(std::shared_ptr<const quire::Model> model, quire::PrefixCache& kept) {
  quire::Generator lost(model, {.prefix_cache = &quire::PrefixCache()});  // misuse
  quire::Generator generator(model, {.prefix_cache = &kept});
}
