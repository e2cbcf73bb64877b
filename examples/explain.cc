// SPDX-License-Identifier: Apache-2.0
// explain MODEL: why was this a miss? Every answer says how much of its prompt was known, and what
// stood in the way of more.
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto model = quire::Model::load(argv[1]);
  quire::PrefixCache prefixes({.explain_across_namespaces = true});
  quire::Generator generator(model, {.prefix_cache = &prefixes});

  const auto text_of = [&](quire::TokenId id) {
    return model->tokenizer()->decode(quire::TokenIds{id});
  };
  const auto ask = [&](const char* what, quire::Request request) {
    request.max_new_tokens = 1;
    const auto result = generator.generate(request);
    const quire::WhyNotMore& why = result.cache.why_not_more;
    std::cout << what << ": " << result.usage.cached_tokens << " of " << result.usage.prompt_tokens
              << " tokens known; " << to_string(why.reason);
    if (why.at) std::cout << " at token " << *why.at;
    if (why.had && why.got) {
      std::cout << ", where \"" << text_of(*why.had) << "\" was stored and \"" << text_of(*why.got)
                << "\" was asked";
    }
    if (!why.field.empty()) std::cout << " (" << why.field << ")";
    std::cout << "\n";
  };

  const std::string rules = "You are a careful assistant. Answer in one short sentence, please.";
  ask("the first time", {.prompt = rules});
  ask("the same again", {.prompt = rules});
  ask("and more after it", {.prompt = rules + " What is rain?"});
  ask("one word changed",
      {.prompt = "You are a cheerful assistant. Answer in one short sentence."});
  ask("for another tenant", {.prompt = rules, .scope = {.name_space = "tenant-2"}});
  ask("with the cache left out", {.prompt = rules, .prefix_cache = false});
}
