// SPDX-License-Identifier: Apache-2.0
// divergence MODEL: why a prompt that ought to be cached is not.
#include <quire/quire.h>

#include <iostream>

namespace {

void print(const char* name, const quire::DivergenceSide& side) {
  std::cout << name << ": ..." << side.before << " | " << side.after << "...";
  if (side.message) std::cout << " (message " << *side.message << ")";
  std::cout << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  quire::Generator generator(quire::Model::load(argv[1]));
  const quire::Message question = {"user", "What is the capital of France?"};
  const auto found =
      quire::find_divergence(generator, {.messages = {question}},
                             {.messages = {{"system", "Today is Tuesday."}, question}});
  std::cout << found.shared << " tokens in common\n";
  print("a", found.a);
  print("b", found.b);
  for (const auto suspect : found.suspects) std::cout << "suspect: " << to_string(suspect) << "\n";
}
