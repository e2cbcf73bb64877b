// SPDX-License-Identifier: Apache-2.0
// cag MODEL FILE QUESTION...: cache-augmented generation. The text is read once and stays in the
// cache; every question is answered with all of it. Beside the time to the first token: that of
// reading the text for the question, and what a retrieval step over it would have had to read.
#include <quire/quire.h>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  quire::Generator generator(quire::Model::load(argv[1]));
  const auto start = std::chrono::steady_clock::now();
  const quire::KnowledgeCache manual(generator, {.files = {argv[2]}});
  const std::chrono::duration<double, std::milli> once = std::chrono::steady_clock::now() - start;
  std::cout << std::fixed << std::setprecision(0) << argv[2] << ": " << manual.length()
            << " tokens, read once in " << once.count() << " ms; "
            << static_cast<double>(manual.bytes()) / (1 << 20)
            << " MiB of keys and values stay in memory\n";

  constexpr std::int64_t kPassages = 4;  // of so many tokens, as retrieval steps usually take
  constexpr std::int64_t kPassage = 128;
  for (int i = 3; i < argc; ++i) {
    const quire::Request settings = {.max_new_tokens = 48};
    const auto warm = manual.ask(argv[i], settings);
    auto request = manual.request(argv[i], settings);
    request.prefix_cache = false;
    const auto cold = generator.generate(request);
    const std::int64_t question = warm.usage.prompt_tokens - warm.usage.cached_tokens;
    std::cout << "\n> " << argv[i] << "\n"
              << warm.text << "\n"
              << "  preloaded: " << question << " tokens to read, first token after "
              << warm.timings.ttft_ms << " ms\n"
              << "  cold:      " << cold.usage.prompt_tokens
              << " tokens to read, first token after " << cold.timings.ttft_ms << " ms ("
              << cold.timings.ttft_ms / std::max(warm.timings.ttft_ms, 0.1) << " times as long); "
              << (warm.ids == cold.ids ? "the same answer" : "ANOTHER answer") << "\n"
              << "  retrieval: " << std::min(kPassages * kPassage, manual.length()) + question
              << " tokens to read with " << kPassages << " passages of " << kPassage
              << ", after a search for them\n";
  }
  std::cout << "\n" << manual.length() << " tokens in the cache, as before\n";
}
