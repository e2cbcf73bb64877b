// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

#include <limits>
#include <map>
#include <utility>

#include "text/tokenizer_json.h"

namespace quire {

namespace {

TokenId checked_id(const JsonObject& object, const char* key, const Json& value) {
  if (!value.is_number_integer() || value < 0 || value > std::numeric_limits<TokenId>::max()) {
    object.fail(key, "expected a token id, found " + value.dump());
  }
  return value.get<TokenId>();
}

// ["[SEP]", 102]
TokenId read_pair(const JsonObject& object, const char* key) {
  const Json& pair = object.at(key);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string()) {
    object.fail(key, "expected a token and its id");
  }
  return checked_id(object, key, pair[1]);
}

void read_template(const JsonObject& object, PostProcessor& out) {
  std::map<std::string, TokenIds, std::less<>> declared;
  if (const auto tokens = object.object_if("special_tokens")) {
    for (const auto& [name, entry] : tokens->json().items()) {
      const Json& ids = JsonObject(entry, object.subject(), name + ".").at("ids");
      if (!ids.is_array()) object.fail("special_tokens", "ids of '" + name + "' are no list");
      for (const Json& id : ids) declared[name].push_back(checked_id(object, "special_tokens", id));
    }
  }
  PostProcessor::Template parts;
  bool has_text = false;
  for (const JsonObject& part : read_components(object, "single")) {
    if (part.has("Sequence")) {
      if (part.object("Sequence").string("id") != "A")
        object.fail("single", "it has a second text");
      parts.emplace_back();
      has_text = true;
      continue;
    }
    const std::string& name = part.object("SpecialToken").string("id");
    const auto found = declared.find(name);
    if (found == declared.end()) {
      object.fail("single", "'" + name + "' is not declared in special_tokens");
    }
    parts.insert(parts.end(), found->second.begin(), found->second.end());
  }
  if (!has_text) object.fail("single", "it has no place for the text");
  out.add(std::move(parts));
}

}  // namespace

void read_post_processor(const JsonObject& object, PostProcessor& out) {
  const std::string& type = object.string("type");
  if (type == "Sequence") {
    for (const JsonObject& part : read_components(object, "processors")) {
      read_post_processor(part, out);
    }
  } else if (type == "TemplateProcessing") {
    read_template(object, out);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    out.add({read_pair(object, "cls"), std::nullopt, read_pair(object, "sep")});
  } else if (type != "ByteLevel") {  // that one moves offsets only
    throw Error(ErrorCode::kUnsupported, object.subject(), "unknown post-processor '" + type + "'");
  }
}

}  // namespace quire
