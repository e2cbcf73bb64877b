// SPDX-License-Identifier: Apache-2.0
// many_threads MODEL: one generator for all threads of a program. Requests that run at the same
// time share each pass over the weights, and every answer is the one it would be alone.
#include <quire/quire.h>

#include <chrono>
#include <iostream>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  quire::Generator generator(quire::Model::load(argv[1]), {.prefix_cache_bytes = 0});
  const std::vector<std::string> prompts = {
      "The capital of France is", "Once upon a time", "Water boils at",
      "Dear Sir or Madam,",       "1, 2, 3, 4,",      "The quick brown fox"};
  const auto answer = [&](const std::string& prompt) {
    return generator.generate({.prompt = prompt, .max_new_tokens = 24, .ignore_eos = true}).ids;
  };
  const auto seconds_for = [](const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };

  std::vector<quire::TokenIds> alone(prompts.size()), together(prompts.size());
  const double one_by_one = seconds_for([&] {
    for (std::size_t i = 0; i < prompts.size(); ++i) alone[i] = answer(prompts[i]);
  });
  const double at_once = seconds_for([&] {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      threads.emplace_back([&, i] { together[i] = answer(prompts[i]); });
    }
  });
  const bool same = alone == together;
  std::cout << prompts.size() << " requests one by one: " << one_by_one
            << " s; at once: " << at_once << " s; "
            << (same ? "the same answers\n" : "OTHER ANSWERS\n");
  return same ? 0 : 1;
}
