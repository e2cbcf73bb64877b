// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_json.h"

#include <quire/error.h>

#include <limits>
#include <unordered_set>
#include <utility>

namespace quire {

namespace {

AddedToken read_own_token(const JsonObject& object) {
  AddedToken token = read_added_token(object);
  const std::int64_t id = object.integer("id");
  if (id < 0 || id > std::numeric_limits<TokenId>::max()) {
    object.fail("id", "expected a token id, found " + std::to_string(id));
  }
  token.id = static_cast<TokenId>(id);
  return token;
}

// Ids and contents must agree with each other and with the model's vocabulary.
std::vector<AddedToken> read_added_tokens(const JsonObject& object, const Vocabulary& vocabulary) {
  std::vector<AddedToken> tokens;
  if (!object.has("added_tokens")) return tokens;
  std::unordered_set<std::string> contents;
  std::unordered_set<TokenId> ids;
  const auto components = read_components(object, "added_tokens");
  const std::int64_t limit = Vocabulary::max_id(vocabulary.size() + components.size());
  for (const JsonObject& component : components) {
    AddedToken token = read_own_token(component);
    const auto fail = [&](const std::string& problem) {
      object.fail("added_tokens",
                  "'" + token.content + "' has the id " + std::to_string(token.id) + problem);
    };
    if (token.id > limit) fail(", expected at most " + std::to_string(limit));
    const TokenId known = vocabulary.find(token.content);
    if (known != Vocabulary::kNone && known != token.id) {
      fail(", in vocab it has " + std::to_string(known));
    }
    if (known == Vocabulary::kNone && vocabulary.holds(token.id)) {
      fail(", which is that of '" + std::string(vocabulary.piece(token.id)) + "'");
    }
    const bool new_content = contents.insert(token.content).second;
    const bool new_id = ids.insert(token.id).second;
    if (new_content != new_id) fail(", and stands twice with different ids or contents");
    if (new_content) tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

std::vector<JsonObject> read_components(const JsonObject& object, const char* key) {
  const Json& list = object.at(key);
  if (!list.is_array()) {
    object.fail(key, std::string("expected a list, found ") + list.type_name());
  }
  std::vector<JsonObject> components;
  components.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    components.emplace_back(list[i], object.subject(),
                            std::string(key) + "[" + std::to_string(i) + "].");
  }
  return components;
}

JsonPattern read_pattern(const JsonObject& object) {
  const JsonObject pattern = object.object("pattern");
  if (pattern.has("Regex")) return {true, pattern.string("Regex")};
  return {false, pattern.string("String")};
}

TokenizerParts read_tokenizer_json(const std::filesystem::path& file,
                                   const TokenizerConfig& config) {
  const Json json = read_json_file(file);
  const JsonObject object(json, file.string());
  if (const std::string version = object.string_or("version", "1.0"); version != "1.0") {
    throw Error(ErrorCode::kUnsupported, file.string(), "version: expected 1.0, found " + version);
  }
  TokenizerParts parts;
  parts.subject = file.string();
  const JsonObject model_object = object.object("model");
  const auto pre_tokenizer = object.object_if("pre_tokenizer");
  const bool raw_bytes = pre_tokenizer && ends_in_byte_level(*pre_tokenizer) &&
                         model_type(model_object) == "BPE" &&
                         model_object.string_or("continuing_subword_prefix", "").empty() &&
                         model_object.string_or("end_of_word_suffix", "").empty();
  if (pre_tokenizer) read_pre_tokenizer(*pre_tokenizer, raw_bytes, parts.pre_tokenizers);
  if (const auto found = object.object_if("normalizer")) parts.normalizer = read_normalizer(*found);
  if (const auto found = object.object_if("post_processor")) {
    read_post_processor(*found, parts.post_processor);
  }
  if (const auto found = object.object_if("decoder")) {
    read_decoder(*found, parts.decoder);
  } else {
    parts.decoder.push_back(spaces_step());
  }
  ReadModel read = read_model(model_object, raw_bytes);
  parts.model = std::move(read.model);
  parts.vocabulary = std::move(read.vocabulary);
  parts.kind = read.kind;
  if (const TokenId id = parts.vocabulary->find(read.unk_token); id != Vocabulary::kNone) {
    parts.unk = id;
  }
  std::vector<AddedToken> added = read_added_tokens(object, *parts.vocabulary);
  config.amend(added, *parts.vocabulary);
  parts.added.build(std::move(added), [&](std::string_view content) {
    return parts.normalizer ? parts.normalizer->normalize(std::string(content))
                            : std::string(content);
  });
  config.apply(parts);
  return parts;
}

}  // namespace quire
