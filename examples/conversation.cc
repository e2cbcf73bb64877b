// SPDX-License-Identifier: Apache-2.0
// conversation MODEL QUESTION...: asks one after the other in one session, whose cache keeps what
// was said.
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  quire::Generator generator(quire::Model::load(argv[1], {.dtype = quire::DType::kF32}));
  quire::Session session(generator);
  for (int i = 2; i < argc; ++i) {
    const auto answer = session.say(argv[i], {.max_new_tokens = 64});
    std::cout << answer.text << "\n[" << answer.usage.cached_tokens << " of "
              << answer.usage.prompt_tokens << " prompt tokens were in the cache]\n";
  }
}
