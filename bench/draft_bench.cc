// SPDX-License-Identifier: Apache-2.0
// quire_draft_bench MODEL [THREADS [f32]]: 64 tokens with drafts of every quality against plain decoding,
// prompt included. Plain and drafted runs alternate; each ratio is that of the best runs, over some
// prompts. Exits with 1 if any draft changes an answer.
#include <quire/quire.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using quire::TokenIds;

constexpr std::int64_t kNewTokens = 64;
constexpr int kRounds = 3;

const char* const kPrompts[] = {"The capital of France is", "Once upon a time",
                                "How do I reset my password?", "The three laws of motion are"};

using Draft = std::function<TokenIds(const TokenIds& own, const TokenIds& other)>;

const std::pair<const char*, Draft> kDrafts[] = {
    {"the answer itself", [](const TokenIds& own, const TokenIds&) { return own; }},
    {"its first half",
     [](const TokenIds& own, const TokenIds&) {
       return TokenIds(own.begin(), own.begin() + std::ssize(own) / 2);
     }},
    {"every tenth token another",
     [](const TokenIds& own, const TokenIds& other) {
       TokenIds draft = own;
       for (std::size_t i = 9; i < draft.size(); i += 10) draft[i] = other[i];
       return draft;
     }},
    {"another question's answer", [](const TokenIds&, const TokenIds& other) { return other; }},
    // It is taken up again and again, and is wrong each time.
    {"pairs of right tokens, apart", [](const TokenIds& own, const TokenIds&) {
       TokenIds draft;
       for (std::size_t i = 0; i + 1 < own.size(); ++i) {
         for (const quire::TokenId id : {own[i], own[i + 1], 0, 0, 0, 0}) draft.push_back(id);
       }
       return draft;
     }}};

class Bench {
 public:
  Bench(std::shared_ptr<const quire::Model> model, int threads)
      : generator_(std::move(model), {.threads = threads, .prefix_cache_bytes = 0}) {
    for (const char* prompt : kPrompts) answers_.push_back(timed(prompt, {}, false).first);
  }

  // The best times of plain and of drafted runs, summed over the prompts.
  std::pair<double, double> compare(const Draft& make, bool lookup, quire::Usage& usage) {
    std::pair<double, double> sum;
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      const TokenIds draft = make(answers_[i], answers_[(i + 1) % answers_.size()]);
      double plain = 1e9;
      double drafted = 1e9;
      for (int round = 0; round < kRounds; ++round) {
        plain = std::min(plain, timed(kPrompts[i], {}, false).second);
        const auto [ids, seconds] = timed(kPrompts[i], draft, lookup);
        drafted = std::min(drafted, seconds);
        same_ = same_ && ids == answers_[i];
      }
      usage.draft_tokens += last_.draft_tokens;
      usage.accepted_draft_tokens += last_.accepted_draft_tokens;
      sum.first += plain;
      sum.second += drafted;
    }
    return sum;
  }

  bool same() const { return same_; }

 private:
  std::pair<TokenIds, double> timed(const char* prompt, const TokenIds& draft, bool lookup) {
    quire::Request request;
    request.prompt = prompt;
    request.max_new_tokens = kNewTokens;
    request.sampling = quire::Sampling{};
    request.ignore_eos = true;
    request.draft_ids = draft;
    request.prompt_lookup = lookup;
    const auto start = Clock::now();
    quire::Result result = generator_.generate(request);
    last_ = result.usage;
    return {result.ids, std::chrono::duration<double>(Clock::now() - start).count()};
  }

  quire::Generator generator_;
  std::vector<TokenIds> answers_;
  quire::Usage last_;
  bool same_ = true;
};

void report(Bench& bench, const std::string& name, const Draft& draft, bool lookup) {
  quire::Usage usage;
  const auto [plain, drafted] = bench.compare(draft, lookup, usage);
  std::printf("%-30s %6.0f ms plain, %6.0f ms drafted: %.2fx; accepted %ld of %ld\n", name.c_str(),
              plain * 1000, drafted * 1000, drafted / plain,
              static_cast<long>(usage.accepted_draft_tokens),
              static_cast<long>(usage.draft_tokens));
}

}  // namespace

int main(int argc, char** argv) try {
  const bool exact = argc == 4 && std::string_view(argv[3]) == "f32";
  if (argc < 2 || argc > 4 || (argc == 4 && !exact)) {
    std::cerr << "usage: quire_draft_bench MODEL [THREADS [f32]]\n";
    return 2;
  }
  const auto dtype = exact ? quire::DType::kF32 : quire::DType::kAuto;
  Bench bench(quire::Model::load(argv[1], {.dtype = dtype}), argc > 2 ? std::atoi(argv[2]) : 0);
  for (const auto& [name, draft] : kDrafts) report(bench, name, draft, false);
  report(
      bench, "prompt look-up", [](const TokenIds&, const TokenIds&) { return TokenIds(); }, true);
  std::printf("answers: %s\n", bench.same() ? "those of plain decoding" : "DIFFERENT");
  return bench.same() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
