// SPDX-License-Identifier: Apache-2.0
// cag MODEL FILE QUESTION...: answers questions from a text that stays in the cache, and compares
// the time to the first token with that of reading the text for the question, and with what a
// retrieval step over the same text would have had to read.
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  quire::Generator generator(quire::Model::load(argv[1]));
  const quire::KnowledgeCache manual(generator, {.files = {argv[2]}});
  std::cout << argv[2] << ": " << manual.length() << " tokens, " << manual.bytes() / 1024
            << " KiB of keys and values\n";

  constexpr int kRetrieved = 4;  // passages of this many tokens, as retrieval steps usually take
  constexpr int kPassage = 128;
  for (int i = 3; i < argc; ++i) {
    const quire::Request settings = {.max_new_tokens = 48};
    const auto warm = manual.ask(argv[i], settings);
    auto request = manual.request(argv[i], settings);
    request.prefix_cache = false;
    const auto cold = generator.generate(request);
    std::cout << "\n"
              << argv[i] << "\n"
              << warm.text << "\nfirst token after " << warm.timings.ttft_ms << " ms ("
              << warm.usage.prompt_tokens - warm.usage.cached_tokens
              << " tokens read); reading everything " << cold.timings.ttft_ms << " ms ("
              << cold.usage.prompt_tokens << " tokens); "
              << (warm.ids == cold.ids ? "the same answer\n" : "ANOTHER answer\n");
    const auto question = warm.usage.prompt_tokens - warm.usage.cached_tokens;
    std::cout << "retrieving " << kRetrieved << " passages of " << kPassage << " tokens would read "
              << kRetrieved * kPassage + question << " tokens\n";
  }
  std::cout << "\nafterwards " << manual.length() << " tokens in the cache, as before\n";
}
