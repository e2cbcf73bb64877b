// SPDX-License-Identifier: Apache-2.0
// quire semantic MODEL: answers kept and found by what was asked.
#include <quire/embedder.h>
#include <quire/semantic_cache.h>

#include <memory>
#include <optional>
#include <sstream>

#include "commands.h"
#include "models.h"
#include "program.h"
#include "unknown_tokens.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::string op = "lookup";
  std::optional<std::string> prompt, response, name_space;
  std::optional<std::int64_t> id;
  double threshold = 0.95;
  std::int64_t max_bytes = 256ll << 20;
  std::string unknown_tokens = "refuse";
  std::string path;
};

std::string required(const Fields& line, std::string_view key) {
  if (auto value = line.text(key)) return *std::move(value);
  line.wrong(key, "a text");
}

std::uint64_t required_id(const Fields& line) {
  if (const auto id = line.natural("id")) return *id;
  line.wrong("id", "the id of an entry");
}

quire::SemanticScope scope_of(const Fields& line) {
  return {.name_space = line.text("namespace").value_or(""),
          .vary = line.text("vary").value_or("")};
}

Json passed_over_json(const quire::SemanticCandidate& candidate) {
  Json json = {{"id", candidate.id},
               {"score", candidate.score},
               {"threshold", candidate.threshold},
               {"matched", candidate.matched}};
  if (candidate.refused) {
    json["refused"] = to_string(candidate.refused->guard);
    json["saw"] = candidate.refused->saw;
  }
  return json;
}

Json lookup(quire::SemanticCache& answers, const Fields& line) {
  quire::SemanticQuery query{.prompt = required(line, "prompt"), .scope = scope_of(line)};
  query.threshold = line.number("threshold");
  if (!line.boolean("guards").value_or(true)) query.guards = quire::GuardSet::none();
  if (const auto value = line.text("unknown_tokens")) {
    query.unknown_tokens = unknown_tokens_of(*value);
  }
  const quire::SemanticLookup found = answers.lookup(query);
  Json json = {{"hit", static_cast<bool>(found)}};
  if (found) {
    json["response"] = found->response;
    json["score"] = found->score;
    json["id"] = found->id;
    json["level"] = to_string(found->level);
    json["matched"] = found->matched;
    json["age_ms"] = found->age.count();
  } else {
    json["reason"] = found.reason();
    if (!found.passed_over.empty()) {
      json["score"] = found.passed_over.front().score;
      json["matched"] = found.passed_over.front().matched;
    }
  }
  Json passed_over = Json::array();
  for (const auto& candidate : found.passed_over)
    passed_over.push_back(passed_over_json(candidate));
  json["passed_over"] = std::move(passed_over);
  return json;
}

Json store(quire::SemanticCache& answers, const Fields& line) {
  quire::SemanticEntry entry{.prompt = required(line, "prompt"),
                             .answer = {.response = required(line, "response")},
                             .scope = scope_of(line)};
  if (const auto seconds = line.number("ttl_s")) {
    constexpr double kMostSeconds = 1e9;
    if (!(*seconds > 0 && *seconds <= kMostSeconds)) line.wrong("ttl_s", "a number above 0");
    entry.keep.ttl = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
  }
  if (const auto tags = line.texts("tags")) entry.keep.tags = *tags;
  const auto id = answers.store(entry);
  Json json = {{"stored", id.has_value()}};
  if (id) json["id"] = *id;
  return json;
}

Json stats_json(const quire::SemanticStats& stats) {
  Json misses = Json::object();
  for (int i = 1; i < 8; ++i) {
    misses[std::string(to_string(static_cast<quire::SemanticMiss>(i)))] = stats.misses[i];
  }
  Json refusals = Json::object();
  for (int i = 0; i < 7; ++i) {
    refusals[std::string(to_string(static_cast<quire::Guard>(i)))] = stats.refusals[i];
  }
  return {{"entries", stats.entries},
          {"bytes", stats.bytes},
          {"lookups", stats.lookups},
          {"exact_hits", stats.exact_hits},
          {"normalized_hits", stats.normalized_hits},
          {"semantic_hits", stats.semantic_hits},
          {"misses", misses},
          {"refusals", refusals},
          {"stored", stats.stored},
          {"evicted", stats.evicted},
          {"expired", stats.expired},
          {"reported",
           {{"hits", stats.semantic_errors.reported},
            {"wrong", stats.semantic_errors.wrong},
            {"upper", stats.semantic_errors.upper}}}};
}

Json perform(quire::SemanticCache& answers, const Fields& line) {
  const std::string op = line.text("op").value_or("lookup");
  if (op == "lookup") return lookup(answers, line);
  if (op == "store") return store(answers, line);
  if (op == "report_wrong") {
    return {{"known", answers.report_wrong(required_id(line), line.number("score"))}};
  }
  if (op == "report_right") return {{"known", answers.report_right(required_id(line))}};
  if (op == "remove") return {{"removed", answers.remove(required_id(line))}};
  if (op == "invalidate") return {{"removed", answers.invalidate(required(line, "tag"))}};
  if (op == "verify") {
    answers.verify();
    return {{"sound", true}};
  }
  if (op == "stats") {
    return stats_json(line.has("namespace") || line.has("vary") ? answers.stats(scope_of(line))
                                                                : answers.stats());
  }
  line.wrong("op",
             "lookup, store, report_wrong, report_right, remove, invalidate, stats or verify");
}

void print_for_people(const Json& result) {
  std::ostringstream out;
  for (const auto& [key, value] : result.items()) {
    out << key << ": " << (value.is_string() ? value.get<std::string>() : value.dump()) << "\n";
  }
  write(out.str());
}

}  // namespace

void add_semantic(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("semantic", "Answers kept and found by what was asked");
  add_example(
      *command,
      "semantic minilm --path faq.db --op store --prompt \"Is it free?\" --response \"Yes.\"");
  add_model_argument(*command, *a, "A sentence encoder's directory or a packaged model's name");
  command
      ->add_option("--op", a->op,
                   "lookup, store, report_wrong, report_right, remove, stats or verify")
      ->capture_default_str();
  command->add_option("-p,--prompt", a->prompt, "The question");
  command->add_option("--response", a->response, "Its answer, for store");
  command->add_option("--namespace", a->name_space, "Answers of other namespaces are never seen");
  command->add_option("--id", a->id, "An entry");
  command->add_option("--threshold", a->threshold, "Least cosine of a hit")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--path", a->path, "A file that keeps the answers; it is made when missing");
  command->add_option("--max-bytes", a->max_bytes, "Bound of the cache")->capture_default_str();
  add_unknown_tokens(*command, a->unknown_tokens);
  command->add_option("--threads", a->threads, "Threads; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_output_options(*command, *a);
  command->callback([a] {
    quire::SemanticCache answers(
        quire::Embedder::load(find_model(a->model), {.threads = a->threads}),
        {.threshold = a->threshold,
         .unknown_tokens = unknown_tokens_of(a->unknown_tokens),
         .max_bytes = a->max_bytes,
         .path = a->path});
    Json line = {{"op", a->op}};
    put(line, "prompt", a->prompt);
    put(line, "response", a->response);
    put(line, "namespace", a->name_space);
    put(line, "id", a->id);
    answer(
        *a, line, [&](const Fields& fields) { return perform(answers, fields); }, print_for_people);
  });
}

}  // namespace cli
