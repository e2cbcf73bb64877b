// SPDX-License-Identifier: Apache-2.0
// streaming MODEL PROMPT MILLISECONDS: prints the answer as it comes, until its first sentence ends
// or the time is up.
#include <quire/quire.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  quire::Generator generator(quire::Model::load(argv[1]));

  quire::Request request;
  request.prompt = argv[2];
  request.deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(std::atoi(argv[3]));
  const auto answer = generator.generate(request, [](std::string_view chunk) {
    std::cout << chunk << std::flush;
    return chunk.find('.') == chunk.npos ? quire::Stream::kContinue : quire::Stream::kStop;
  });
  std::cout << "\n[" << to_string(answer.finish_reason) << "]\n";
}
