// SPDX-License-Identifier: Apache-2.0
// cancellation MODEL PROMPT CHARACTERS: gives an answer up once so much of it has been shown, as a
// server does whose client has gone. Nothing of it stays, and the generator goes on.
#include <quire/quire.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  quire::Generator generator(quire::Model::load(argv[1]));
  const quire::Request request = {.prompt = argv[2], .max_new_tokens = 48, .ignore_eos = true};

  std::size_t room = std::strtoul(argv[3], nullptr, 10);
  const auto part = generator.generate(request, [&](std::string_view chunk) {
    std::cout << chunk << std::flush;
    room -= std::min(room, chunk.size());
    return room > 0 ? quire::Stream::kContinue : quire::Stream::kCancel;
  });
  std::cout << "\n[" << to_string(part.finish_reason) << " after " << part.usage.completion_tokens
            << " tokens]\n";

  const auto whole = generator.generate(request);
  std::cout << whole.text << "\n[" << to_string(whole.finish_reason) << " after "
            << whole.usage.completion_tokens << " tokens]\n";
  return whole.text.starts_with(part.text) ? 0 : 1;
}
