// SPDX-License-Identifier: Apache-2.0
// Answers to frequent questions, found by what was asked, and why not where they are not:
//   semantic_faq all-MiniLM-L6-v2/ [THRESHOLD]
#include <quire/embedder.h>
#include <quire/error.h>
#include <quire/semantic_cache.h>

#include <iostream>
#include <string>

namespace {

void ask(quire::SemanticCache& answers, const std::string& question) {
  const quire::SemanticLookup found = answers.lookup(question);
  if (found) {
    std::cout << "HIT   " << question << "\n      " << to_string(found->level) << ", "
              << found->score << ": " << found->response << "\n";
    return;
  }
  std::cout << "MISS  " << question << "\n      " << found.reason();
  if (!found.passed_over.empty()) {
    const quire::SemanticCandidate& nearest = found.passed_over.front();
    std::cout << ", " << nearest.score << " to \"" << nearest.matched << "\"";
    if (nearest.refused) std::cout << ": " << nearest.refused->saw;
  }
  std::cout << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: semantic_faq ENCODER [THRESHOLD]\n";
    return 2;
  }
  try {
    const double threshold = argc > 2 ? std::stod(argv[2]) : 0.9;
    quire::SemanticCache answers(quire::Embedder::load(argv[1]), {.threshold = threshold});
    answers.store("How do I reset my password?", "Settings, Security, Reset password.");
    answers.store("Is the API rate limited?", "Yes: 60 requests a minute.");
    answers.store("Refund policy for annual plans", "In full within 30 days.");
    answers.store("Flights from New York to Florida", "Three a day, from JFK.");
    for (const char* question : {"How can I reset my password?", "how do I reset my password?!",
                                 "Is the API not rate limited?", "Refund policy for monthly plans",
                                 "Flights from Florida to New York",
                                 "Flights to Florida from New York", "What is the weather like?"}) {
      ask(answers, question);
    }
  } catch (const quire::Error& error) {
    std::cerr << "error: " << to_string(error.code()) << ": " << error.what() << "\n";
    return 1;
  }
}
