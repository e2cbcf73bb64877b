// SPDX-License-Identifier: Apache-2.0
// fork MODEL: one prompt, several continuations, each on a fork of the cache that shares its pages.
#include <quire/quire.h>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto model = quire::Model::load(argv[1], {.dtype = quire::DType::kF32});
  quire::Generator generator(model);

  // A cache of one's own: filled, forked, cut back.
  const std::string trunk =
      "Once upon a time, in a small village between the mountains and the sea, there lived an old "
      "clockmaker. Every morning he opened his shop, wound up all his clocks and";
  quire::DynamicCache cache(model->kv_spec());
  generator.generate({.prompt = trunk, .max_new_tokens = 1, .cache = &cache});
  std::cout << trunk << " ... [" << cache.length() << " tokens, read once]\n";
  for (const char* next : {" listened to them. One day", " went back to bed. One day"}) {
    const auto branch = cache.fork();
    const auto answer =
        generator.generate({.prompt = next, .max_new_tokens = 12, .cache = branch.get()});
    std::cout << " ..." << next << answer.text << " [" << answer.usage.prompt_tokens
              << " tokens read; " << cache.shared_bytes() / 1024 << " of the trunk's "
              << cache.bytes() / 1024 << " KiB are shared]\n";
  }
  cache.truncate(5);
  std::cout << "cut back to " << cache.length() << " tokens\n";

  // A conversation: what is tried on a fork leaves no trace.
  quire::Session chat(generator);
  chat.say("Name one ocean.", {.max_new_tokens = 16});
  auto attempt = chat.fork();
  const auto answer = attempt.say("Now say it in French.", {.max_new_tokens = 16});
  std::cout << "on the fork: " << answer.text << "\n"
            << attempt.messages().size() << " messages on the fork, " << chat.messages().size()
            << " in the conversation\n";
}
