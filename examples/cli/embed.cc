// SPDX-License-Identifier: Apache-2.0
// quire embed MODEL: texts as the vectors of a sentence encoder.
#include <quire/embedder.h>

#include <memory>
#include <sstream>

#include "commands.h"
#include "models.h"
#include "program.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::string text;
  std::vector<std::int32_t> ids;
};

Json embed(const quire::Embedder& embedder, const Fields& line) {
  const auto text = line.text("text");
  const auto ids = line.ids("ids");
  if (text.has_value() == ids.has_value()) {
    throw quire::Error(
        quire::ErrorCode::kInvalidArgument, "text",
        "expected either a text or ids, found " + std::string(text ? "both" : "neither"));
  }
  return {{"embedding", text ? embedder.embed(*text) : embedder.embed_ids(*ids)}};
}

void print_for_people(const Json& result) {
  std::ostringstream out;
  for (const Json& value : result.at("embedding")) out << value.dump() << "\n";
  write(out.str());
}

}  // namespace

void add_embed(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("embed", "A text as the vector of a sentence encoder");
  add_example(*command, "embed minilm --text \"How do I reset my password?\" --json");
  add_model_argument(*command, *a, "A sentence encoder's directory or a packaged model's name");
  auto* text = command->add_option("-t,--text", a->text, "The text");
  auto* ids = command->add_option("--ids", a->ids, "Token ids in its place, separated by commas");
  ids->delimiter(',')->excludes(text);
  command->add_option("--threads", a->threads, "Threads; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_output_options(*command, *a);
  command->callback([a, text, ids] {
    if (!a->jsonl && text->empty() && ids->empty()) {
      throw CLI::RequiredError("--text, --ids or --jsonl");
    }
    const auto embedder = quire::Embedder::load(find_model(a->model), {.threads = a->threads});
    const Json line = ids->empty() ? Json{{"text", a->text}} : Json{{"ids", a->ids}};
    answer(
        *a, line, [&](const Fields& fields) { return embed(*embedder, fields); }, print_for_people);
  });
}

}  // namespace cli
