// SPDX-License-Identifier: Apache-2.0
// prefix_overhead MODEL [PAIRS] [PROMPT] [NEW]: what the prefix cache costs where it finds nothing.
//
// Each pair (60) is one text nobody has seen, PROMPT tokens (256) and NEW (16) after them, given to
// a generator with a prefix cache of the default size and to one without, in turns of who is first.
// Printed are the median and the quartiles of what the cache adds, pair by pair, and of the same
// without any cache on either side, which is what measuring alone adds.
#include <quire/generator.h>
#include <quire/model.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "yardstick.h"

namespace {

struct Size {
  int pairs;
  std::int64_t prompt;
  std::int64_t fresh;
};

double request_ms(quire::Generator& generator, const quire::TokenIds& ids, const Size& size) {
  quire::Request request;
  request.ids = ids;
  request.max_new_tokens = size.fresh;
  request.ignore_eos = true;
  request.sampling = quire::Sampling{};
  const bench::Clock::time_point start = bench::Clock::now();
  const quire::Result result = generator.generate(request);
  if (result.usage.cached_tokens > 1) std::fprintf(stderr, "not cold\n");
  return bench::milliseconds(bench::Clock::now() - start);
}

void compare(const char* what, quire::Generator& with, quire::Generator& without,
             bench::RandomTokens& texts, const Size& size) {
  std::vector<double> added;
  for (int pair = 0; pair < size.pairs; ++pair) {
    const quire::TokenIds text = texts.next(size.prompt);
    std::array<double, 2> ms{};
    for (const int turn : {0, 1}) {
      const int which = (turn + pair) % 2;
      ms[static_cast<std::size_t>(which)] = request_ms(which == 0 ? without : with, text, size);
    }
    added.push_back(100 * (ms[1] / ms[0] - 1));
  }
  std::ranges::sort(added);
  std::printf(
      "{\"what\": \"%s\", \"pairs\": %d, \"prompt\": %lld, \"new\": %lld, "
      "\"added_percent\": {\"quarter\": %.2f, \"median\": %.2f, \"three_quarters\": %.2f}}\n",
      what, size.pairs, static_cast<long long>(size.prompt), static_cast<long long>(size.fresh),
      added[added.size() / 4], added[added.size() / 2], added[added.size() * 3 / 4]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto number = [&](int i, std::int64_t otherwise) {
    return argc > i ? std::atoll(argv[i]) : otherwise;
  };
  const Size size{static_cast<int>(number(2, 60)), number(3, 256), number(4, 16)};
  const auto model = quire::Model::load(argv[1]);
  quire::Generator with(model);
  quire::Generator without(model, {.prefix_cache_bytes = 0});
  quire::Generator other(model, {.prefix_cache_bytes = 0});
  bench::RandomTokens texts(model->config().vocab_size);
  compare("nothing", other, without, texts, size);
  compare("prefix cache", with, without, texts, size);
}
