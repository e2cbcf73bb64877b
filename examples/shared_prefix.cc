// SPDX-License-Identifier: Apache-2.0
// shared_prefix MODEL: instructions are computed once, and every question continues them.
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  quire::Generator generator(quire::Model::load(argv[1], {.dtype = quire::DType::kF32}));
  quire::PromptCache prompts;

  const std::string instructions = "You are a careful assistant. Answer in one short sentence.";
  const auto snapshot = prompts.prefill(generator, {.prompt = instructions});

  for (const char* question : {" What is the capital of France?", " Name one ocean."}) {
    const auto answer =
        generator.generate({.prompt = question, .max_new_tokens = 20, .snapshot = snapshot});
    const auto without = generator.generate(
        {.prompt = instructions + question, .max_new_tokens = 20, .prefix_cache = false});
    std::cout << question << answer.text << "\n[" << answer.usage.cached_tokens << " of "
              << answer.usage.prompt_tokens
              << " prompt tokens came from the snapshot; the answer is "
              << (answer.ids == without.ids ? "" : "NOT ") << "the one without it]\n";
  }
}
