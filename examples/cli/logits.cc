// SPDX-License-Identifier: Apache-2.0
// quire logits MODEL: the next token's logits after some ids.
#include <quire/generator.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>

#include "commands.h"
#include "program.h"
#include "request.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::optional<std::string> prompt;
  std::vector<std::int32_t> ids;
  std::string top = "10";
};

// How many of the largest to give; none: all, in the order of ids.
std::optional<std::int64_t> top_of(const Fields& line) {
  const Json* top = line.find("top");
  if (!top) return 10;
  if (*top == "all") return std::nullopt;
  if (!top->is_number_unsigned()) line.wrong("top", "a number or \"all\"");
  return line.integer("top");
}

Json largest(const std::vector<float>& logits, std::int64_t count) {
  std::vector<std::int32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto end = ids.begin() + std::min<std::int64_t>(count, std::ssize(ids));
  std::partial_sort(ids.begin(), end, ids.end(), [&](std::int32_t a, std::int32_t b) {
    const float x = logits[static_cast<std::size_t>(a)];
    const float y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  Json out = Json::array();
  for (auto id = ids.begin(); id != end; ++id) {
    out.push_back({*id, logits[static_cast<std::size_t>(*id)]});
  }
  return out;
}

Json logits_json(quire::Generator& generator, const Fields& line) {
  const auto top = top_of(line);
  quire::Request request;
  request.prompt = line.text("prompt");
  request.ids = line.ids("ids");
  request.max_new_tokens = 1;
  const std::vector<float> logits = generator.next_logits(request);
  return {{"logits", top ? largest(logits, *top) : Json(logits)}};
}

void print_for_people(const Json& result) {
  std::ostringstream out;
  for (const Json& item : result.at("logits")) {
    out << (item.is_array() ? item[0].dump() + "\t" + item[1].dump() : item.dump()) << "\n";
  }
  write(out.str());
}

}  // namespace

void add_logits(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("logits", "The next token's logits after some ids");
  add_example(*command, "logits smollm2 --prompt \"The capital of France is\" --top 5");
  add_model_argument(*command, *a, "A directory, a .gguf file or a packaged model's name");
  auto* ids = command->add_option("--ids", a->ids, "Token ids, separated by commas");
  ids->delimiter(',');
  command->add_option("-p,--prompt", a->prompt, "A text, in place of ids")->excludes(ids);
  command->add_option("--top", a->top, "So many of the largest, or \"all\" by id")
      ->capture_default_str();
  add_run_options(*command, *a);
  add_output_options(*command, *a);
  command->callback([a] {
    if (!a->jsonl && !a->prompt && a->ids.empty()) {
      throw CLI::RequiredError("--ids, --prompt or --jsonl");
    }
    quire::Generator generator(load_model(*a), {.threads = a->threads});
    Json line = Json::object();
    put(line, "prompt", a->prompt);
    if (!a->prompt) line["ids"] = a->ids;
    const bool number = !a->top.empty() && a->top.find_first_not_of("0123456789") == a->top.npos;
    line["top"] = number ? Json::parse(a->top, nullptr, false) : Json(a->top);
    answer(
        *a, line, [&](const Fields& fields) { return logits_json(generator, fields); },
        print_for_people);
  });
}

}  // namespace cli
