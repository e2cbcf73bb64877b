// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_config.h"

#include <quire/error.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

namespace quire {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNames[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                  "pad_token", "cls_token", "mask_token"};

// "<s>" or {"content": "<s>", …}
std::optional<std::string> read_name(const JsonObject& object, const char* key) {
  const Json* value = object.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  if (value->is_object()) return object.object(key).string("content");
  object.fail(key, std::string("expected a token, found ") + value->type_name());
}

void read_names(const JsonObject& object, TokenizerConfig& config) {
  std::optional<std::string>* const places[] = {&config.bos_token, &config.eos_token,
                                                &config.unk_token};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    const auto name = read_name(object, kNames[i]);
    if (!name) continue;
    if (i < std::size(places) && !*places[i]) *places[i] = name;
    config.special_tokens.push_back(*name);
  }
  const Json* others = object.find("additional_special_tokens");
  if (others == nullptr || !others->is_array()) return;
  for (const Json& other : *others) {
    if (other.is_string()) config.special_tokens.push_back(other.get<std::string>());
  }
}

TokenId checked_id(const JsonObject& object, const char* key, std::int64_t id) {
  if (id < 0 || id > std::numeric_limits<TokenId>::max()) {
    object.fail(key, "expected token ids, found " + std::to_string(id));
  }
  return static_cast<TokenId>(id);
}

// {"32000": {"content": "<|im_start|>", "special": true, …}, …}
void read_added(const JsonObject& object, TokenizerConfig& config) {
  constexpr const char* kKey = "added_tokens_decoder";
  const auto entries = object.object_if(kKey);
  if (!entries) return;
  for (const auto& [text, entry] : entries->json().items()) {
    std::int64_t id = -1;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, id);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      object.fail(kKey, "expected token ids, found '" + text + "'");
    }
    AddedToken token =
        read_added_token(JsonObject(entry, object.subject(), std::string(kKey) + "." + text + "."));
    token.id = checked_id(object, kKey, id);
    config.added.push_back(std::move(token));
  }
}

std::optional<bool> flag(const JsonObject& object, const char* key) {
  return object.has(key) ? std::optional(object.boolean(key)) : std::nullopt;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// {"<|im_start|>": 32000}
void read_added_map(const fs::path& file, TokenizerConfig& config) {
  const Json json = read_json_file(file);
  const JsonObject object(json, file.string());
  for (const auto& [content, id] : json.items()) {
    AddedToken token;
    token.content = content;
    token.id = checked_id(object, content.c_str(), object.integer(content));
    token.normalized = true;
    const bool known = std::any_of(config.added.begin(), config.added.end(),
                                   [&](const AddedToken& other) { return other.id == token.id; });
    if (!known) config.added.push_back(std::move(token));
  }
}

}  // namespace

AddedToken read_added_token(const JsonObject& object) {
  AddedToken token;
  token.content = object.string("content");
  if (token.content.empty()) object.fail("content", "it is empty");
  token.single_word = object.boolean_or("single_word", false);
  token.lstrip = object.boolean_or("lstrip", false);
  token.rstrip = object.boolean_or("rstrip", false);
  token.special = object.boolean_or("special", false);
  token.normalized = object.boolean_or("normalized", !token.special);
  return token;
}

void TokenizerConfig::amend(std::vector<AddedToken>& tokens, const Vocabulary& vocabulary) const {
  const std::int64_t limit = Vocabulary::max_id(vocabulary.size() + added.size());
  for (const AddedToken& token : added) {
    const bool known = std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& other) {
      return other.content == token.content;
    });
    if (known) continue;
    const TokenId own = vocabulary.find(token.content);
    const bool taken = (own != Vocabulary::kNone && own != token.id) ||
                       (own == Vocabulary::kNone && vocabulary.holds(token.id)) ||
                       std::any_of(tokens.begin(), tokens.end(),
                                   [&](const AddedToken& other) { return other.id == token.id; });
    if (taken || token.id > limit) {
      throw Error(ErrorCode::kCorrupt, subject,
                  "added token '" + token.content + "' has the id " + std::to_string(token.id) +
                      ", which does not fit the vocabulary");
    }
    tokens.push_back(token);
  }
  for (AddedToken& token : tokens) {
    token.special = token.special || std::find(special_tokens.begin(), special_tokens.end(),
                                               token.content) != special_tokens.end();
  }
}

void TokenizerConfig::apply(TokenizerParts& parts) const {
  const auto find = [&](const std::string& name) -> std::optional<TokenId> {
    if (const AddedToken* token = parts.added.find(name)) return token->id;
    const TokenId id = parts.vocabulary->find(name);
    return id == Vocabulary::kNone ? std::nullopt : std::optional(id);
  };
  const auto required = [&](const char* key, const std::string& name) {
    const auto id = find(name);
    if (!id) {
      throw Error(ErrorCode::kCorrupt, subject,
                  std::string(key) + ": '" + name + "' is no token of the vocabulary");
    }
    return *id;
  };
  if (bos_token) parts.bos = required("bos_token", *bos_token);
  if (eos_token) parts.eos = {required("eos_token", *eos_token)};
  if (unk_token && find(*unk_token)) parts.unk = find(*unk_token);
  for (const std::string& name : special_tokens) {
    const auto id = find(name);
    if (!id) continue;
    const auto index = static_cast<std::size_t>(*id);
    if (parts.special.size() <= index) parts.special.resize(index + 1, false);
    parts.special[index] = true;
  }
  if (!add_bos_token && !add_eos_token) return;
  parts.post_processor = {};
  PostProcessor::Template wrapped;
  if (add_bos_token.value_or(false) && parts.bos) wrapped.emplace_back(parts.bos);
  wrapped.emplace_back();
  if (add_eos_token.value_or(false) && !parts.eos.empty()) wrapped.emplace_back(parts.eos.front());
  parts.post_processor.add(std::move(wrapped));
}

TokenizerConfig read_tokenizer_config(const fs::path& folder) {
  TokenizerConfig config;
  const fs::path main = folder / "tokenizer_config.json";
  config.subject = main.string();
  if (is_there(main)) {
    const Json json = read_json_file(main);
    const JsonObject object(json, main.string());
    read_names(object, config);
    config.add_bos_token = flag(object, "add_bos_token");
    config.add_eos_token = flag(object, "add_eos_token");
    config.legacy = flag(object, "legacy");
    read_added(object, config);
  }
  if (const fs::path file = folder / "special_tokens_map.json"; is_there(file)) {
    const Json json = read_json_file(file);
    read_names(JsonObject(json, file.string()), config);
  }
  if (const fs::path file = folder / "added_tokens.json"; is_there(file)) {
    read_added_map(file, config);
  }
  return config;
}

}  // namespace quire
