// SPDX-License-Identifier: Apache-2.0
// tokenize TOKENIZER TEXT_FILE [ROUNDS]: megabytes a second of one thread's processor time that a
// tokenizer encodes, the best of some rounds, and how many ids that are.
#include <quire/tokenizer.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: tokenize TOKENIZER TEXT_FILE [ROUNDS]\n", stderr), 2;
  const auto tokenizer = quire::Tokenizer::load(argv[1]);
  std::ifstream file(argv[2], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  double best = 1e300;
  std::size_t ids = 0;
  for (int i = 0; i < rounds; ++i) {
    const double start = processor_seconds();
    ids = tokenizer->encode(text).size();
    best = std::min(best, processor_seconds() - start);
  }
  std::printf("%.2f %zu\n", static_cast<double>(text.size()) / 1e6 / best, ids);
  return 0;
}
