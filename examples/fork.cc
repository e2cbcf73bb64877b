// SPDX-License-Identifier: Apache-2.0
// fork MODEL: one prompt, several continuations, each on a fork of the cache that shares its pages.
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto model = quire::Model::load(argv[1], {.dtype = quire::DType::kF32});
  quire::Generator generator(model);

  // A cache of one's own: filled, forked, cut back.
  quire::DynamicCache cache(model->kv_spec());
  generator.generate({.prompt = "Once upon a time", .max_new_tokens = 1, .cache = &cache});
  for (const char* next : {" there was a cat", " there was a king"}) {
    const auto branch = cache.fork();
    const auto answer =
        generator.generate({.prompt = next, .max_new_tokens = 12, .cache = branch.get()});
    std::cout << "Once upon a time" << next << answer.text << " [" << branch->length()
              << " tokens; the trunk has " << cache.length() << "]\n";
  }

  // A conversation: what is tried on a fork leaves no trace.
  quire::Session chat(generator);
  chat.say("Name one ocean.", {.max_new_tokens = 16});
  auto attempt = chat.fork();
  attempt.say("Now say it in French.", {.max_new_tokens = 16});
  std::cout << attempt.messages().size() << " messages on the fork, " << chat.messages().size()
            << " in the conversation\n";
}
