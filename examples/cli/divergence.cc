// SPDX-License-Identifier: Apache-2.0
// quire divergence MODEL: where two prompts part, and what may have made them.
#include <quire/divergence.h>
#include <quire/generator.h>

#include <memory>
#include <optional>
#include <sstream>

#include "commands.h"
#include "files.h"
#include "messages.h"
#include "program.h"
#include "request.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::optional<std::string> a, b;
};

// A text, a list of messages, a list of ids, or an object as a line of generate.
quire::Request prompt_of(const Fields& line, const std::string& key, const quire::Model& model) {
  const Json* value = line.find(key);
  if (!value) {
    throw quire::Error(quire::ErrorCode::kInvalidArgument, key, "expected a text or messages");
  }
  quire::Request request;
  if (value->is_string()) {
    request.prompt = value->get<std::string>();
  } else if (value->is_object()) {
    return request_of(Fields(std::string(line.raw(key))), model);
  } else if (value->is_array() && !value->empty() && value->front().is_number()) {
    request.ids = line.ids(key);
  } else if (value->is_array()) {
    request.messages = messages_of(Fields("{\"messages\":" + std::string(line.raw(key)) + "}"));
  } else {
    line.wrong(key, "a text, messages or ids");
  }
  if (line.has("tools")) request.tools_json = std::string(line.raw("tools"));
  return request;
}

Json side_json(const quire::DivergenceSide& side) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"id", or_null(side.id)},
          {"text", side.text},
          {"message", or_null(side.message)},
          {"char", or_null(side.character)},
          {"before", side.before},
          {"after", side.after}};
}

Json divergence_json(const quire::Generator& generator, const Fields& line) {
  const quire::Model& model = *generator.model();
  const quire::Divergence found =
      find_divergence(generator, prompt_of(line, "a", model), prompt_of(line, "b", model));
  Json suspects = Json::array();
  for (const quire::Suspect suspect : found.suspects) suspects.push_back(to_string(suspect));
  return {{"shared", found.shared},
          {"index", found.index ? Json(*found.index) : Json()},
          {"a", side_json(found.a)},
          {"b", side_json(found.b)},
          {"suspects", std::move(suspects)}};
}

void print_for_people(const Json& result) {
  std::ostringstream out;
  out << result.at("shared") << " tokens in common";
  if (result.at("index").is_null()) {
    write(out.str() + "; the prompts are equal\n");
    return;
  }
  for (const char* name : {"a", "b"}) {
    const Json& side = result.at(name);
    out << "\n" << name << ": " << side.at("before").dump() << " | " << side.at("after").dump();
    if (side.at("id").is_null()) out << ", which ends there";
    if (!side.at("message").is_null()) {
      out << ", message " << side.at("message") << ", character " << side.at("char");
    }
  }
  for (const Json& suspect : result.at("suspects")) {
    out << "\nsuspect: " << suspect.get<std::string>();
  }
  write(out.str() + "\n");
}

Json json_or_text(const std::string& text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_structured() ? value : Json(text);
}

}  // namespace

void add_divergence(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("divergence", "Where two prompts part, and why");
  add_example(*command,
              "divergence smollm2 --a \"Today is Monday. Hi\" --b \"Today is Tuesday. Hi\"");
  add_model_argument(*command, *a, "A directory, a .gguf file or a packaged model's name");
  command->add_option("--a", a->a, "A text, or messages or ids as JSON");
  command->add_option("--b", a->b, "The other");
  add_run_options(*command, *a);
  add_output_options(*command, *a);
  command->callback([a] {
    if (!a->jsonl && (!a->a || !a->b)) throw CLI::RequiredError("--a and --b, or --jsonl");
    const quire::Generator generator(load_model(*a),
                                     {.threads = a->threads, .prefix_cache_bytes = 0});
    Json line = Json::object();
    if (a->a) line["a"] = json_or_text(*a->a);
    if (a->b) line["b"] = json_or_text(*a->b);
    answer(
        *a, line, [&](const Fields& fields) { return divergence_json(generator, fields); },
        print_for_people);
  });
}

}  // namespace cli
