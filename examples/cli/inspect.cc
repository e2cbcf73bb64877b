// SPDX-License-Identifier: Apache-2.0
// quire inspect PATH: what a model is, checked as loading would check it.
#include <quire/chat.h>
#include <quire/inspect.h>
#include <quire/tokenizer.h>

#include <filesystem>
#include <memory>
#include <sstream>

#include "commands.h"
#include "models.h"
#include "program.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::int64_t context = 0;
};

Json windows_json(const quire::ModelConfig& config) {
  Json windows = Json::array();
  for (const std::int64_t window : config.windows) windows.push_back(window);
  return windows;
}

// A folder that holds a tokenizer or a chat template, and no model.
bool is_text_folder(const std::filesystem::path& path) {
  const auto has = [&](const char* file) { return std::filesystem::exists(path / file); };
  return std::filesystem::is_directory(path) && !has("config.json") && !has("model.safetensors") &&
         !has("model.safetensors.index.json") &&
         (has("tokenizer.json") || has("tokenizer.model") || has("chat_template.jinja") ||
          has("tokenizer_config.json"));
}

Json inspect_text_folder(const std::string& path) {
  const auto chat = quire::ChatTemplate::load(path);
  const bool only_chat = chat &&
                         !std::filesystem::exists(std::filesystem::path(path) / "tokenizer.json") &&
                         !std::filesystem::exists(std::filesystem::path(path) / "tokenizer.model");
  Json out = {{"path", path}, {"format", "tokenizer"}, {"tokenizer", nullptr}, {"tokens", 0}};
  if (!only_chat) {
    const auto tokenizer = quire::Tokenizer::load(path);
    out["tokenizer"] = tokenizer->kind();
    out["tokens"] = tokenizer->vocab_size();
  }
  out["chat_template"] = chat != nullptr;
  return out;
}

Json inspect_json(const std::string& path, std::int64_t context) {
  if (is_text_folder(path)) return inspect_text_folder(path);
  const quire::ModelInfo info = quire::inspect(find_model(path));
  const quire::ModelConfig& c = info.config;
  if (context == 0) context = c.context;
  Json out = {{"path", path},
              {"format", info.format == quire::Checkpoint::Format::kGguf ? "gguf" : "safetensors"},
              {"architecture", c.architecture},
              {"parameters", info.parameters},
              {"tensors", info.tensors},
              {"bytes", info.file_bytes},
              {"dtypes", info.block_types},
              {"layers", c.layers},
              {"hidden", c.hidden},
              {"intermediate", c.intermediate},
              {"heads", c.heads},
              {"kv_heads", c.kv_heads},
              {"head_dim", c.head_dim},
              {"vocab", c.vocab_size},
              {"context", c.context},
              {"windows", windows_json(c)}};
  if (c.experts > 0) {
    out["experts"] = c.experts;
    out["experts_per_token"] = c.experts_per_token;
  }
  out["tokenizer"] = info.tokenizer_kind.empty() ? Json() : Json(info.tokenizer_kind);
  out["tokens"] = info.tokens;
  out["chat_template"] = info.has_chat_template;
  out["memory"] = {{"dtype", to_string(info.dtype)},
                   {"weights", info.weight_bytes},
                   {"kv_per_token", info.kv_spec.bytes_per_token()},
                   {"context", context},
                   {"total", quire::estimated_bytes(info, context)}};
  return out;
}

std::string megabytes(const Json& bytes) {
  std::ostringstream out;
  out.precision(1);
  out << std::fixed << bytes.get<double>() / 1e6 << " MB";
  return out.str();
}

std::string about_text(const Json& r) {
  const Json& kind = r.at("tokenizer");
  return "  tokenizer: " + (kind.is_null() ? "none" : kind.get<std::string>()) + ", " +
         r.at("tokens").dump() +
         " tokens; chat template: " + (r.at("chat_template").get<bool>() ? "yes" : "none") + "\n";
}

void print_for_people(const Json& r) {
  const auto text = [&](const char* key) {
    return r.at(key).is_string() ? r.at(key).get<std::string>() : r.at(key).dump();
  };
  std::ostringstream out;
  if (r.at("format") == "tokenizer") {
    out << text("path") << "\n" << about_text(r);
    return write(out.str());
  }
  out << text("path") << "\n"
      << "  " << text("architecture") << ", " << text("format") << ", " << text("parameters")
      << " parameters in " << text("tensors") << " tensors, " << megabytes(r["bytes"]) << "\n";
  for (const auto& [type, bytes] : r.at("dtypes").items()) {
    out << "    " << type << "\t" << megabytes(bytes) << "\n";
  }
  const Json& memory = r.at("memory");
  out << "  " << text("layers") << " layers of " << text("hidden") << ", " << text("heads")
      << " heads over " << text("kv_heads") << ", context " << text("context") << "\n"
      << about_text(r) << "  memory as " << memory["dtype"].get<std::string>() << ": weights "
      << megabytes(memory["weights"]) << ", " << memory["kv_per_token"]
      << " bytes of keys and values a token, " << megabytes(memory["total"]) << " with "
      << memory["context"] << " tokens\n";
  write(out.str());
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("inspect", "What a model is, without loading it");
  add_example(*command, "inspect smollm2 --context 4096");
  command->add_option("path", a->model, "A directory, a .gguf file or a packaged model's name");
  command->add_option("--context", a->context, "Tokens to estimate memory for (its own context)")
      ->check(CLI::NonNegativeNumber);
  add_output_options(*command, *a);
  command->callback([a] {
    if (!a->jsonl && a->model.empty()) throw CLI::RequiredError("PATH or --jsonl");
    const auto handler = [&](const Fields& line) {
      const auto path = line.text("path");
      if (!path) {
        throw quire::Error(quire::ErrorCode::kInvalidArgument, "path",
                           "expected a path, found none");
      }
      return inspect_json(*path, a->context);
    };
    answer(*a, {{"path", a->model}}, handler, print_for_people);
  });
}

}  // namespace cli
