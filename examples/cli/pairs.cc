// SPDX-License-Identifier: Apache-2.0
// quire pairs MODEL FILE: which labelled pairs a semantic cache would serve.
#include <quire/embedder.h>
#include <quire/semantic_cache.h>

#include <array>
#include <map>
#include <memory>
#include <sstream>

#include "commands.h"
#include "files.h"
#include "models.h"
#include "program.h"
#include "unknown_tokens.h"

namespace cli {
namespace {

using quire::Error;
using quire::ErrorCode;

struct Arguments : SharedOptions {
  std::string file;
  double threshold = 0.8;
  std::string guards = "on";
  std::string unknown_tokens = "allow";
};

struct Pair {
  std::string kind;
  bool reusable = false;  // the answer to `stored` answers `asked`
  std::string stored;
  std::string asked;
};

// \t and \n are written as two characters.
std::string unescaped(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const char next = i + 1 < field.size() ? field[i + 1] : '\0';
    if (field[i] == '\\' && (next == 't' || next == 'n')) {
      out += next == 't' ? '\t' : '\n';
      ++i;
    } else {
      out += field[i];
    }
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// One header line, then source, kind, label, text_a, text_b.
std::vector<Pair> read_pairs(const std::string& file) {
  const std::string text = read_text(file);
  std::vector<Pair> pairs;
  std::size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (++number == 1 || line.empty()) continue;
    const auto fields = split(line, '\t');
    if (fields.size() < 5 || (fields[2] != "0" && fields[2] != "1")) {
      throw Error(ErrorCode::kCorrupt, file,
                  "line " + std::to_string(number) +
                      ": expected source, kind, label 0 or 1, text_a and text_b");
    }
    pairs.push_back(
        {std::string(fields[1]), fields[2] == "1", unescaped(fields[3]), unescaped(fields[4])});
  }
  return pairs;
}

Json share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? Json() : Json(static_cast<double>(part) / static_cast<double>(whole));
}

Json measure(quire::SemanticCache& answers, const Arguments& a, const std::vector<Pair>& pairs) {
  std::array<std::int64_t, 2> rows{};
  std::array<std::int64_t, 2> served{};
  std::map<std::string, std::array<std::int64_t, 2>> kinds;
  Json refusals = Json::object();
  for (const Pair& pair : pairs) {
    answers.clear();
    answers.store(pair.stored, "an answer");
    const auto found = answers.lookup(pair.asked);
    const std::size_t label = pair.reusable ? 1 : 0;
    ++rows[label];
    ++kinds[pair.kind][0];
    if (found) {
      ++served[label];
      ++kinds[pair.kind][1];
    } else {
      const std::string reason(found.reason());
      refusals[reason] = refusals.value(reason, 0) + 1;
    }
  }
  Json by_kind = Json::object();
  for (const auto& [kind, counts] : kinds) {
    by_kind[kind] = {{"rows", counts[0]}, {"served", counts[1]}};
  }
  return {{"rows", std::ssize(pairs)},
          {"threshold", a.threshold},
          {"guards", a.guards},
          {"recall", share(served[1], rows[1])},
          {"precision", share(served[1], served[0] + served[1])},
          {"false_hit_rate", share(served[0], rows[0])},
          {"kinds", by_kind},
          {"missed", refusals}};
}

void print_for_people(const Json& result) {
  std::ostringstream out;
  for (const char* key : {"rows", "threshold", "guards", "recall", "precision", "false_hit_rate"}) {
    out << key << ": " << result.at(key).dump() << "\n";
  }
  for (const auto& [kind, counts] : result.at("kinds").items()) {
    out << "  " << kind << ": " << counts.at("served").dump() << " of " << counts.at("rows").dump()
        << " served\n";
  }
  for (const auto& [reason, count] : result.at("missed").items()) {
    out << "  missed for " << reason << ": " << count.dump() << "\n";
  }
  write(out.str());
}

}  // namespace

void add_pairs(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("pairs", "Which labelled pairs a semantic cache would serve");
  add_example(*command, "pairs minilm tests/data/pairs/authored.tsv --threshold 0.8");
  add_model_argument(*command, *a, "A sentence encoder's directory or a packaged model's name");
  command->add_option("file", a->file, "Tab-separated pairs, plain or gzip")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--threshold", a->threshold, "Least cosine of a hit")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--guards", a->guards, "on or off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  add_unknown_tokens(*command, a->unknown_tokens);
  command->add_option("--threads", a->threads, "Threads; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_flag("--json", a->json, "One JSON object");
  command->callback([a] {
    const std::vector<Pair> pairs = read_pairs(a->file);
    quire::SemanticCache answers(
        quire::Embedder::load(find_model(a->model), {.threads = a->threads}),
        {.threshold = a->threshold,
         .guards = a->guards == "on" ? quire::GuardSet{} : quire::GuardSet::none(),
         .unknown_tokens = unknown_tokens_of(a->unknown_tokens)});
    const Json result = measure(answers, *a, pairs);
    a->json ? write_line(result) : print_for_people(result);
  });
}

}  // namespace cli
