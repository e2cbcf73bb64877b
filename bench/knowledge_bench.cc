// SPDX-License-Identifier: Apache-2.0
// knowledge_bench MODEL DOCUMENT [QUESTIONS]: what a question about a preloaded document costs.
//
// The time to the first token of a question to a KnowledgeCache of DOCUMENT, beside that of
// requests whose whole prompt is the question: as a text, as a message, and as the very tokens that
// the preloaded request had to read; and of reading the document with the question. All in turns,
// on questions that differ, the least of kRounds. Then QUESTIONS (1,000) of them are asked, and the
// memory of the process is looked at. JSON Lines.
#include <quire/generator.h>
#include <quire/knowledge_cache.h>
#include <quire/model.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "yardstick.h"

namespace {

using bench::Least;

constexpr int kRounds = 25;
constexpr int kColdRounds = 3;

std::string question(std::int64_t i) {
  return "How do I reset device number " + std::to_string(1000 + i) + "?";
}

quire::Request settings(std::int64_t tokens) {
  quire::Request request;
  request.max_new_tokens = tokens;
  request.sampling = quire::Sampling{};
  request.prefix_cache = false;
  return request;
}

void measure_first_tokens(quire::Generator& generator, const quire::KnowledgeCache& document) {
  Least ask, as_text, as_message, same_tokens, cold;
  std::int64_t read = 0;
  for (int i = 0; i < kRounds; ++i) {
    ask.measure([&] { document.ask(question(i), settings(1)); });
    quire::Request request = document.request(question(i), settings(1));
    const quire::TokenIds all = generator.tokenize(request);
    read = std::ssize(all) - document.length();
    if (i < kColdRounds) cold.measure([&] { generator.generate(request); });
    request = settings(1);
    request.prompt = question(i);
    as_text.measure([&] { generator.generate(request); });
    request = settings(1);
    request.messages = {{"user", question(i)}};
    as_message.measure([&] { generator.generate(request); });
    request = settings(1);
    request.ids = quire::TokenIds(all.end() - read, all.end());
    same_tokens.measure([&] { generator.generate(request); });
  }
  std::printf(
      "{\"tokens\": %lld, \"tokens_read\": %lld, \"preloaded_ms\": %.2f, \"text_alone_ms\": %.2f, "
      "\"message_alone_ms\": %.2f, \"same_tokens_alone_ms\": %.2f, \"cold_ms\": %.2f, "
      "\"times_text_alone\": %.2f, \"times_message_alone\": %.2f, \"times_same_tokens\": %.2f}\n",
      static_cast<long long>(document.length()), static_cast<long long>(read), ask.ms(),
      as_text.ms(), as_message.ms(), same_tokens.ms(), cold.ms(), ask.ms() / as_text.ms(),
      ask.ms() / as_message.ms(), ask.ms() / same_tokens.ms());
  std::fflush(stdout);
}

void measure_memory(const quire::KnowledgeCache& document, std::int64_t questions) {
  const std::int64_t step = questions / 10 > 0 ? questions / 10 : 1;
  for (std::int64_t i = 0; i <= questions; ++i) {
    if (i % step == 0) {
      std::printf("{\"questions\": %lld, \"resident_mib\": %.1f, \"document_tokens\": %lld}\n",
                  static_cast<long long>(i),
                  static_cast<double>(bench::resident_bytes()) / (1 << 20),
                  static_cast<long long>(document.length()));
      std::fflush(stdout);
    }
    document.ask(question(i), settings(2));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  quire::Generator generator(quire::Model::load(argv[1]));
  const quire::KnowledgeCache document(generator, {.files = {argv[2]}});
  measure_first_tokens(generator, document);
  measure_memory(document, argc > 3 ? std::atoll(argv[3]) : 1000);
}
