// SPDX-License-Identifier: Apache-2.0
// quire tokenize MODEL, quire detokenize MODEL: only tokenizer files are read.
#include <quire/tokenizer.h>

#include <memory>
#include <optional>
#include <sstream>

#include "commands.h"
#include "models.h"
#include "program.h"

namespace cli {
namespace {

using quire::Tokenizer;

struct Arguments : SharedOptions {
  std::string text;
  std::vector<std::int32_t> ids;
  bool plain = false;
  bool skip_special = false;
};

std::string required_text(const Fields& line) {
  const auto text = line.text("text");
  if (!text) {
    throw quire::Error(quire::ErrorCode::kInvalidArgument, "text", "expected a text, found none");
  }
  return *text;
}

Json tokenize(const Tokenizer& tokenizer, const Fields& line) {
  const std::string text = required_text(line);
  const bool parse_special = line.boolean("parse_special").value_or(true);
  const quire::TokenIds ids = tokenizer.encode(text, {.parse_special = parse_special});
  Json tokens = Json::array();
  for (std::string& piece : tokenizer.pieces(text, {.parse_special = parse_special}))
    tokens.push_back(std::move(piece));
  return {{"ids", ids},
          {"ids_special",
           tokenizer.encode(text, {.add_special = true, .parse_special = parse_special})},
          {"tokens", std::move(tokens)},
          {"decoded", tokenizer.decode(ids)}};
}

Json detokenize(const Tokenizer& tokenizer, const Fields& line) {
  const auto ids = line.ids("ids");
  if (!ids) {
    throw quire::Error(quire::ErrorCode::kInvalidArgument, "ids", "expected token ids, found none");
  }
  const bool skip_special = line.boolean("skip_special").value_or(false);
  return {{"text", tokenizer.decode(*ids, {.skip_special = skip_special})}};
}

void print_tokens(const Json& result) {
  std::ostringstream out;
  for (std::size_t i = 0; i < result.at("ids").size(); ++i) {
    out << result["ids"][i] << "\t" << result["tokens"][i].get<std::string>() << "\n";
  }
  write(out.str());
}

}  // namespace

void add_tokenize(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("tokenize", "Text to token ids");
  add_example(*command, "tokenize smollm2 --text \"Once upon a time\"");
  add_model_argument(*command, *a, "A model, or a folder or file that holds its tokenizer");
  auto* text = command->add_option("-t,--text", a->text, "The text");
  command->add_flag("--no-parse-special", a->plain, "Special tokens in the text are plain text");
  add_output_options(*command, *a);
  command->callback([a, text] {
    if (!a->jsonl && text->empty()) throw CLI::RequiredError("--text or --jsonl");
    const auto tokenizer = Tokenizer::load(find_model(a->model));
    answer(
        *a, {{"text", a->text}, {"parse_special", !a->plain}},
        [&](const Fields& line) { return tokenize(*tokenizer, line); }, print_tokens);
  });
}

void add_detokenize(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("detokenize", "Token ids to text");
  add_example(*command, "detokenize smollm2 --ids 504,3575,282");
  add_model_argument(*command, *a, "A model, or a folder or file that holds its tokenizer");
  auto* ids = command->add_option("--ids", a->ids, "Token ids, separated by commas");
  ids->delimiter(',');
  command->add_flag("--skip-special", a->skip_special, "Leave special tokens out");
  add_output_options(*command, *a);
  command->callback([a, ids] {
    if (!a->jsonl && ids->empty()) throw CLI::RequiredError("--ids or --jsonl");
    const auto tokenizer = Tokenizer::load(find_model(a->model));
    answer(
        *a, {{"ids", a->ids}, {"skip_special", a->skip_special}},
        [&](const Fields& line) { return detokenize(*tokenizer, line); },
        [](const Json& result) { write(result.at("text").get<std::string>() + "\n"); });
  });
}

}  // namespace cli
