// SPDX-License-Identifier: Apache-2.0
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;  // hello MODEL PROMPT
  auto model = quire::Model::load(argv[1]);
  quire::Generator generator(model);
  auto answer = generator.generate({.prompt = argv[2], .max_new_tokens = 20});
  std::cout << answer.text << "\n" << answer.usage.total_tokens << " tokens\n";
}
