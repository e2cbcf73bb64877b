// SPDX-License-Identifier: Apache-2.0
// A sentence encoder of one's own for the semantic cache: it counts which three letters follow each
// other. That needs no model, and finds slips of the pen rather than other words.
#include <quire/quire.h>

#include <cctype>
#include <iostream>

class Trigrams final : public quire::Embedder {
 public:
  std::string name() const override { return "trigrams"; }
  std::int64_t dimension() const override { return kSize; }

  std::vector<float> embed(std::string_view text) const override {
    std::vector<float> counts(kSize);
    std::size_t hash = 0;
    for (const char c : std::string(text) + "  ") {
      const int letter = std::tolower(static_cast<unsigned char>(c));
      hash = (hash * 64 + static_cast<std::size_t>(letter) % 64) % (64 * 64 * 64);
      counts[hash % kSize] += 1;
    }
    return counts;  // of any length: the cache compares directions
  }

 private:
  static constexpr std::size_t kSize = 1021;  // a prime, so that all three letters count
};

int main() {
  quire::SemanticCache answers(std::make_shared<Trigrams>(), {.threshold = 0.75});
  answers.store("How do I reset my password?", "Settings, Security, Reset password.");
  for (const char* question : {"how do I reset my passwort", "Where is the nearest station?"}) {
    const auto found = answers.lookup(question);
    std::cout << question << "\n  "
              << (found ? found->response : "none: " + std::string(found.reason())) << "\n";
  }
}
