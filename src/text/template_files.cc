// SPDX-License-Identifier: Apache-2.0
#include "text/template_files.h"

#include <quire/error.h>

#include <algorithm>
#include <array>

#include "formats/gguf.h"
#include "io/json.h"
#include "io/read_file.h"
#include "io/utf8.h"

namespace quire {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 7> kTokenNames = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string read_text(const fs::path& path) {
  std::string text = read_file(path);
  if (!is_utf8(text)) throw Error(ErrorCode::kCorrupt, path.string(), "expected UTF-8 text");
  return text;
}

void add_template(TemplateFiles& files, const std::string& name, std::string text) {
  if (name == "default") {
    files.plain = std::move(text);
  } else if (name == "tool_use") {
    files.with_tools = std::move(text);
  } else {
    files.others += (files.others.empty() ? "" : ", ") + name;
  }
}

[[noreturn]] void wrong(const fs::path& file, std::string_view problem) {
  throw Error(ErrorCode::kCorrupt, file.string() + ": chat_template", problem);
}

// A text, an object of texts by name, or a list of {name, template}.
void read_value(TemplateFiles& files, const Json& value, const fs::path& file) {
  if (value.is_string()) {
    files.plain = value.get<std::string>();
  } else if (value.is_object()) {
    for (const auto& [name, text] : value.items()) {
      if (!text.is_string()) wrong(file, "the template '" + name + "' is not a text");
      add_template(files, name, text.get<std::string>());
    }
  } else if (value.is_array()) {
    for (const Json& entry : value) {
      const auto text_of = [&](const char* key) {
        if (!entry.is_object() || !entry.contains(key) || !entry.at(key).is_string()) {
          wrong(file, std::string("expected entries with a name and a template, found one whose ") +
                          key + " is no text");
        }
        return entry.at(key).get<std::string>();
      };
      add_template(files, text_of("name"), text_of("template"));
    }
  } else {
    wrong(file, std::string("expected a text or named texts, found ") + value.type_name());
  }
}

// Texts, or objects with the text as their content. What is already known stays.
void read_tokens(TemplateFiles& files, const Json& config) {
  for (const std::string_view name : kTokenNames) {
    const auto known = [name](const auto& token) { return token.first == name; };
    if (!config.is_object() || !config.contains(name) ||
        std::any_of(files.tokens.begin(), files.tokens.end(), known)) {
      continue;
    }
    const Json* value = &config.at(std::string(name));
    if (value->is_object() && value->contains("content")) value = &value->at("content");
    if (value->is_string()) files.tokens.emplace_back(name, value->get<std::string>());
  }
}

void read_jinja_files(TemplateFiles& files, const fs::path& folder) {
  if (const fs::path file = folder / "chat_template.jinja"; is_file(file)) {
    files.subject = file.string();
    files.plain = read_text(file);
  }
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder / "additional_chat_templates", none)) {
    if (entry.path().extension() != ".jinja") continue;
    if (files.subject.empty()) files.subject = entry.path().string();
    add_template(files, entry.path().stem().string(), read_text(entry.path()));
  }
}

TemplateFiles read_folder(const fs::path& folder) {
  TemplateFiles files;
  read_jinja_files(files, folder);
  const auto found = [&files] { return !files.subject.empty(); };
  if (const fs::path file = folder / "tokenizer_config.json"; is_file(file)) {
    const Json config = read_json_file(file);
    read_tokens(files, config);
    if (!found() && config.is_object() && config.contains("chat_template") &&
        !config.at("chat_template").is_null()) {
      files.subject = file.string();
      read_value(files, config.at("chat_template"), file);
    }
  }
  if (const fs::path file = folder / "special_tokens_map.json"; is_file(file)) {
    read_tokens(files, read_json_file(file));
  }
  if (const fs::path file = folder / "chat_template.json"; !found() && is_file(file)) {
    const Json config = read_json_file(file);
    if (config.is_object() && config.contains("chat_template")) {
      files.subject = file.string();
      read_value(files, config.at("chat_template"), file);
    }
  }
  return files;
}

void read_gguf_tokens(TemplateFiles& files, const GgufFile& gguf) {
  static constexpr std::pair<const char*, const char*> kIds[] = {
      {"bos_token", "tokenizer.ggml.bos_token_id"},
      {"eos_token", "tokenizer.ggml.eos_token_id"},
      {"unk_token", "tokenizer.ggml.unknown_token_id"},
      {"sep_token", "tokenizer.ggml.seperator_token_id"},  // the format's own spelling
      {"pad_token", "tokenizer.ggml.padding_token_id"},
      {"cls_token", "tokenizer.ggml.cls_token_id"},
      {"mask_token", "tokenizer.ggml.mask_token_id"}};
  if (!gguf.has("tokenizer.ggml.tokens")) return;
  const std::vector<std::string_view> tokens = gguf.strings("tokenizer.ggml.tokens");
  for (const auto& [name, key] : kIds) {
    if (!gguf.has(key)) continue;
    const std::int64_t id = gguf.integer(key);
    if (id < 0 || static_cast<std::size_t>(id) >= tokens.size()) {
      gguf.fail(key, "expected one of " + std::to_string(tokens.size()) + " tokens, found " +
                         std::to_string(id));
    }
    files.tokens.emplace_back(name, tokens[static_cast<std::size_t>(id)]);
  }
}

TemplateFiles read_gguf(const fs::path& path) {
  static constexpr std::string_view kKey = "tokenizer.chat_template";
  const GgufFile gguf(path);
  TemplateFiles files;
  for (const GgufEntry& entry : gguf.entries()) {
    if (entry.key == kKey) {
      add_template(files, "default", std::string(gguf.string(entry.key)));
    } else if (entry.key.starts_with(std::string(kKey) + ".")) {
      add_template(files, std::string(entry.key.substr(kKey.size() + 1)),
                   std::string(gguf.string(entry.key)));
    } else {
      continue;
    }
    files.subject = path.string() + ": " + std::string(kKey);
  }
  read_gguf_tokens(files, gguf);
  return files;
}

}  // namespace

TemplateFiles read_template_files(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return read_folder(path);
  if (!fs::exists(path, ignored)) {
    throw Error(ErrorCode::kNotFound, path.string(), "no such file or directory");
  }
  if (path.extension() == ".gguf" || GgufFile::has_magic(path)) return read_gguf(path);
  return read_folder(path.parent_path());
}

}  // namespace quire
