// SPDX-License-Identifier: Apache-2.0
// session_on_disk MODEL FILE: a conversation is put away with its keys and values, and goes on
// later as if nothing had been.
#include <quire/quire.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto model = quire::Model::load(argv[1], {.dtype = quire::DType::kF32});
  const quire::Request settings = {.max_new_tokens = 32};

  quire::Generator generator(model);
  quire::Session session(generator, {.messages = {{"system", "Answer in one sentence."}}});
  session.say("My name is Ada, and I like rain.", settings);
  session.save(argv[2]);

  quire::Generator later(model);  // another process would do: nothing but the file is shared
  quire::Session again(later);
  again.load(argv[2]);
  const auto answer = again.say("What is my name?", settings);
  const auto without = session.say("What is my name?", settings);
  const bool same = answer.ids == without.ids;
  std::cout << answer.text << "\n[" << answer.usage.cached_tokens << " of "
            << answer.usage.prompt_tokens << " prompt tokens came from the file; "
            << (same ? "the same answer" : "ANOTHER ANSWER") << " as without it]\n";
  return same ? 0 : 1;
}
