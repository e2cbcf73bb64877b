// SPDX-License-Identifier: Apache-2.0
// divergence MODEL: why a prompt that ought to be cached is not. A cache serves a prompt as far as
// it begins like an earlier one, so one early difference costs everything after it.
#include <quire/quire.h>

#include <iostream>
#include <string>
#include <string_view>

namespace {

std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) c == '\n' ? out += "\\n" : out += c;
  return out;
}

void print(const char* name, const quire::DivergenceSide& side) {
  std::cout << "  " << name << ": " << on_one_line(side.before) << " | " << on_one_line(side.after);
  if (side.message) {
    std::cout << "   (message " << *side.message << ", character " << *side.character << ")";
  }
  std::cout << "\n";
}

void compare(const quire::Generator& generator, const quire::Request& a, const quire::Request& b) {
  const auto found = quire::find_divergence(generator, a, b);
  std::cout << found.shared << " of " << generator.tokenize(b).size()
            << " tokens in common; then they part:\n";
  print("a", found.a);
  print("b", found.b);
  for (const auto suspect : found.suspects) {
    std::cout << "  suspect: " << to_string(suspect) << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const quire::Generator generator(quire::Model::load(argv[1]));
  const quire::Message question = {"user", "What is the capital of France?"};
  const std::string rules = "You are a careful assistant. Answer in one short sentence.";

  // The template says something of its own where there is no system message.
  compare(generator, {.messages = {question}},
          {.messages = {{"system", "Today is Tuesday."}, question}});
  // A date in front makes every day's prompts new ones ...
  compare(generator, {.messages = {{"system", "Date: 2025-03-09. " + rules}, question}},
          {.messages = {{"system", "Date: 2025-03-10. " + rules}, question}});
  // ... and behind the rules only what follows it.
  compare(generator, {.messages = {{"system", rules + " Date: 2025-03-09."}, question}},
          {.messages = {{"system", rules + " Date: 2025-03-10."}, question}});
}
