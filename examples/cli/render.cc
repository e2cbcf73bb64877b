// SPDX-License-Identifier: Apache-2.0
// quire render MODEL, quire render --template FILE: chat templates, or with --raw any Jinja text.
#include <quire/chat.h>

#include <ctime>
#include <iomanip>
#include <memory>
#include <optional>
#include <sstream>

#include "commands.h"
#include "files.h"
#include "messages.h"
#include "models.h"
#include "program.h"

namespace cli {
namespace {

using quire::ChatTemplate;
using quire::Error;
using quire::ErrorCode;

struct Arguments : SharedOptions {
  std::optional<std::string> template_file, messages, tools, documents, bos, eos, now, kwargs,
      context;
  bool add_generation_prompt = false;
  bool continue_final_message = false;
  bool raw = false;
};

// "2025-03-09T08:05:07", as local time without daylight saving.
std::optional<std::tm> now_of(const Fields& line) {
  const auto text = line.text("now");
  if (!text) return std::nullopt;
  std::tm time = {};
  std::istringstream in(*text);
  in >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) {
    line.wrong("now", "a time like 2025-03-09T08:05:07");
  }
  timegm(&time);  // fills in the day of the week and of the year
  return time;
}

// The line's kwargs, preceded by the tokens that it gives: later ones of equal names count.
std::string variables_of(const Fields& line) {
  std::string out = "{";
  for (const std::string_view key : {"bos_token", "eos_token"}) {
    if (const auto text = line.text(key)) {
      out += Json(key).dump() + ":" + Json(*text).dump() + ",";
    }
  }
  if (line.find("kwargs") && !line.find("kwargs")->is_object()) line.wrong("kwargs", "an object");
  for (const std::string_view member : elements(line.has("kwargs") ? line.raw("kwargs") : "{}")) {
    out += std::string(member) + ",";
  }
  if (out.back() == ',') out.pop_back();
  return out + "}";
}

Json render(const ChatTemplate& chat, const Fields& line) {
  quire::RenderOptions options;
  options.tools_json = std::string(line.raw("tools"));
  options.documents_json = std::string(line.raw("documents"));
  options.kwargs_json = variables_of(line);
  options.add_generation_prompt = line.boolean("add_generation_prompt").value_or(false);
  options.continue_final_message = line.boolean("continue_final_message").value_or(false);
  options.now = now_of(line);
  return {{"text", chat.render(messages_of(line), options)}};
}

Json render_raw(const ChatTemplate& chat, const Fields& line) {
  const std::string_view context = line.has("context") ? line.raw("context") : "{}";
  return {{"text", chat.render_raw(context, now_of(line))}};
}

std::shared_ptr<const ChatTemplate> template_of(const Arguments& a) {
  if (a.template_file) {
    return ChatTemplate::parse(read_file(*a.template_file), {.name = *a.template_file});
  }
  auto chat = ChatTemplate::load(find_model(a.model));
  if (!chat)
    throw Error(ErrorCode::kNotFound, a.model, "expected a chat_template in its files, found none");
  return chat;
}

Json line_of(const Arguments& a) {
  Json line = Json::object();
  const auto put_json = [&](const std::string& key, const std::optional<std::string>& text) {
    if (text) line[key] = parse_option("--" + key, *text);
  };
  put_json("messages", a.messages);
  put_json("tools", a.tools);
  put_json("documents", a.documents);
  put_json("kwargs", a.kwargs);
  put_json("context", a.context);
  put(line, "bos_token", a.bos);
  put(line, "eos_token", a.eos);
  put(line, "now", a.now);
  line["add_generation_prompt"] = a.add_generation_prompt;
  line["continue_final_message"] = a.continue_final_message;
  return line;
}

void add_options(CLI::App& command, Arguments& a) {
  auto* model = command.add_option("model", a.model, "A model, or a folder with tokenizer files");
  command.add_option("--template", a.template_file, "A file with the template")
      ->check(CLI::ExistingFile)
      ->excludes(model);
  command.add_option("--messages", a.messages, "The conversation, as a JSON array");
  command.add_option("--tools", a.tools, "A JSON array");
  command.add_option("--documents", a.documents, "A JSON array");
  command.add_option("--kwargs", a.kwargs, "A JSON object of further variables");
  command.add_option("--bos-token", a.bos, "In place of the tokenizer's own");
  command.add_option("--eos-token", a.eos, "In place of the tokenizer's own");
  command.add_option("--now", a.now, "What the template sees as now: 2025-03-09T08:05:07");
  command.add_flag("--add-generation-prompt", a.add_generation_prompt, "Open the answer");
  command.add_flag("--continue-final-message", a.continue_final_message, "Leave the last one open");
  command.add_flag("--raw", a.raw, "Any Jinja text: only --context and the globals are seen");
  command.add_option("--context", a.context, "With --raw: a JSON object of variables");
}

}  // namespace

void add_render(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("render", "A conversation as the model will read it");
  add_example(*command, "render smollm2 --messages '[{\"role\": \"user\", \"content\": \"Hi\"}]'");
  add_options(*command, *a);
  add_output_options(*command, *a);
  command->callback([a] {
    if (a->model.empty() && !a->template_file) throw CLI::RequiredError("MODEL or --template");
    const auto chat = template_of(*a);
    answer(
        *a, line_of(*a),
        [&](const Fields& line) { return a->raw ? render_raw(*chat, line) : render(*chat, line); },
        [](const Json& result) { write(result.at("text").get<std::string>()); });
  });
}

}  // namespace cli
