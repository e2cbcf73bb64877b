// SPDX-License-Identifier: Apache-2.0
// shared_prefix MODEL: instructions are computed once, and every question continues them.
#include <quire/quire.h>

#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  quire::Generator generator(quire::Model::load(argv[1], {.dtype = quire::DType::kF32}));
  quire::PromptCache prompts;

  const quire::Message instructions = {
      "system", "You are a careful assistant. Answer in one short sentence."};
  const auto snapshot = prompts.prefill(generator, {.messages = {instructions}});
  std::cout << instructions.content << " [" << snapshot.ids().size() << " tokens, computed once]\n";

  for (const char* question : {"What is the capital of France?", "Name one ocean."}) {
    const std::vector<quire::Message> messages = {instructions, {"user", question}};
    const auto answer =
        generator.generate({.messages = messages, .max_new_tokens = 30, .snapshot = snapshot});
    const auto without =
        generator.generate({.messages = messages, .max_new_tokens = 30, .prefix_cache = false});
    std::cout << "\n> " << question << "\n"
              << answer.text << "\n[" << answer.usage.cached_tokens << " of "
              << answer.usage.prompt_tokens
              << " prompt tokens came from the snapshot; the answer is "
              << (answer.ids == without.ids ? "" : "NOT ") << "the one without it]\n";
  }
}
