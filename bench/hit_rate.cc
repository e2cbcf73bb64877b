// SPDX-License-Identifier: Apache-2.0
// hit_rate: how much of typical traffic a prefix cache saves, by policy and capacity.
//
// Four workloads, made up from a seed: requests that share a few system prompts; conversations that
// are sent again whole, turn after turn; questions about retrieved documents; agents that append
// what their tools said. Each request is looked up and stored, its answer too, as a generator does;
// printed is the share of prompt tokens that were known. No model runs.
#include <quire/prefix_index.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using quire::TokenId;
using quire::TokenIds;

constexpr std::int64_t kBlockSize = 32;
constexpr int kRequests = 4000;

struct Turn {
  TokenIds prompt;
  TokenIds answer;
};
using Workload = std::function<Turn()>;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  // 0 … n-1, i with a probability as 1 / (i + 1).
  std::size_t zipf(std::size_t n) {
    const double u = std::uniform_real_distribution<double>(0, 1)(engine_);
    const double x = std::exp(u * std::log(static_cast<double>(n) + 1)) - 1;
    return std::min(static_cast<std::size_t>(x), n - 1);
  }
  void append(TokenIds& text, std::size_t least, std::size_t most) {
    for (std::size_t n = least + below(most - least + 1); n > 0; --n) {
      text.push_back(static_cast<TokenId>(below(50000)));
    }
  }

 private:
  std::mt19937_64 engine_;
};

Workload system_prompts(Random& random) {
  std::vector<TokenIds> prompts(20);
  for (TokenIds& prompt : prompts) random.append(prompt, 200, 2000);
  return [&random, prompts] {
    Turn turn{prompts[random.zipf(prompts.size())], {}};
    random.append(turn.prompt, 20, 300);
    random.append(turn.answer, 20, 400);
    return turn;
  };
}

// Texts that grow: `step` appends to one, and each ends after some steps.
Workload growing(Random& random, std::size_t at_once, std::size_t start, std::size_t steps,
                 std::pair<std::size_t, std::size_t> step, std::size_t answer) {
  struct Text {
    TokenIds tokens;
    std::size_t left = 0;
  };
  TokenIds shared;
  random.append(shared, start, start);
  return [=, &random, texts = std::vector<Text>(at_once)]() mutable {
    Text& text = texts[random.zipf(texts.size())];
    if (text.left == 0) text = {shared, 1 + random.below(2 * steps)};
    --text.left;
    random.append(text.tokens, step.first, step.second);
    Turn turn{text.tokens, {}};
    random.append(turn.answer, answer / 4, answer);
    text.tokens.insert(text.tokens.end(), turn.answer.begin(), turn.answer.end());
    return turn;
  };
}

Workload retrieval(Random& random) {
  TokenIds instructions;
  random.append(instructions, 300, 300);
  std::vector<TokenIds> documents(2000);
  for (TokenIds& document : documents) random.append(document, 300, 1200);
  return [&random, instructions, documents] {
    Turn turn{instructions, {}};
    for (int i = 0; i < 3; ++i) {
      const TokenIds& document = documents[random.zipf(documents.size())];
      turn.prompt.insert(turn.prompt.end(), document.begin(), document.end());
    }
    random.append(turn.prompt, 20, 60);
    random.append(turn.answer, 50, 300);
    return turn;
  };
}

void store(quire::PrefixIndex& index, const TokenIds& text) {
  quire::BlockId parent = quire::kNoBlock;
  for (std::size_t at = 0; at < text.size(); at += kBlockSize) {
    const auto block = std::span(text).subspan(
        at, std::min<std::size_t>(static_cast<std::size_t>(kBlockSize), text.size() - at));
    const auto id = index.insert({}, parent, block);
    if (!id) return;
    parent = *id;
  }
}

// The share of prompt tokens found, in percent.
double replay(Workload next, const std::string& policy, std::int64_t capacity) {
  quire::PrefixIndex index({.block_size = kBlockSize,
                            .capacity_blocks = capacity,
                            .policy = quire::make_eviction_policy(policy)});
  std::int64_t found = 0;
  std::int64_t asked = 0;
  for (int request = 0; request < kRequests; ++request) {
    Turn turn = next();
    const std::int64_t length = std::ssize(turn.prompt);
    found += index.lookup({}, turn.prompt, length - 1).tokens;
    asked += length;
    turn.prompt.insert(turn.prompt.end(), turn.answer.begin(), turn.answer.end());
    store(index, turn.prompt);
  }
  return 100.0 * static_cast<double>(found) / static_cast<double>(asked);
}

}  // namespace

int main() {
  struct Named {
    const char* name;
    std::function<Workload(Random&)> make;
  };
  const Named workloads[] = {
      {"shared system prompts", system_prompts},
      {"conversations",
       [](Random& r) {
         return growing(r, 200, 500, 8, {20, 300}, 400);
       }},
      {"retrieved documents", retrieval},
      {"agents",
       [](Random& r) {
         return growing(r, 40, 3000, 25, {50, 2000}, 200);
       }},
  };
  std::printf("tokens found, %% of %d requests' prompts; capacity in blocks of %d tokens\n",
              kRequests, static_cast<int>(kBlockSize));
  std::printf("%-24s %-9s %8s %8s %8s %10s\n", "workload", "policy", "1000", "4000", "16000",
              "unbounded");
  for (const Named& workload : workloads) {
    for (const char* policy : {"lru", "lfu", "slru", "fifo", "cost"}) {
      std::printf("%-24s %-9s", workload.name, policy);
      for (const std::int64_t capacity : {1000, 4000, 16000, 0}) {
        Random random(7);
        std::printf(" %8.1f", replay(workload.make(random), policy, capacity));
      }
      std::printf("\n");
    }
  }
}
