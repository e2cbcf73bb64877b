// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

#include <functional>
#include <map>
#include <utility>

#include "text/precompiled.h"
#include "text/tokenizer_json.h"

namespace quire {

namespace {

using Made = std::unique_ptr<const Normalizer>;

template <NormalForm kForm>
Made make_unicode(const JsonObject&) {
  return std::make_unique<UnicodeNormalizer>(kForm);
}

template <typename T>
Made make_plain(const JsonObject&) {
  return std::make_unique<T>();
}

Made make_sequence(const JsonObject& object) {
  std::vector<Made> parts;
  for (const JsonObject& part : read_components(object, "normalizers")) {
    parts.push_back(read_normalizer(part));
  }
  return std::make_unique<SequenceNormalizer>(std::move(parts));
}

Made make_strip(const JsonObject& object) {
  return std::make_unique<StripNormalizer>(object.boolean_or("strip_left", true),
                                           object.boolean_or("strip_right", true));
}

Made make_replace(const JsonObject& object) {
  JsonPattern pattern = read_pattern(object);
  const std::string& content = object.string("content");
  if (pattern.is_regex) {
    return std::make_unique<ReplaceNormalizer>(Regex(pattern.text, object.subject()), content);
  }
  if (pattern.text.empty()) object.fail("pattern", "it is empty");
  return std::make_unique<ReplaceTextNormalizer>(std::move(pattern.text), content);
}

Made make_prepend(const JsonObject& object) {
  return std::make_unique<PrependNormalizer>(object.string("prepend"));
}

Made make_bert(const JsonObject& object) {
  BertNormalizer::Options options;
  options.clean_text = object.boolean_or("clean_text", true);
  options.handle_chinese_chars = object.boolean_or("handle_chinese_chars", true);
  options.lowercase = object.boolean_or("lowercase", true);
  options.strip_accents = object.boolean_or("strip_accents", options.lowercase);
  return std::make_unique<BertNormalizer>(options);
}

Made make_precompiled(const JsonObject& object) {
  return std::make_unique<PrecompiledNormalizer>(object.string("precompiled_charsmap"),
                                                 object.subject());
}

const std::map<std::string, Made (*)(const JsonObject&), std::less<>>& makers() {
  static const std::map<std::string, Made (*)(const JsonObject&), std::less<>> table = {
      {"Sequence", make_sequence},
      {"NFC", make_unicode<NormalForm::kNfc>},
      {"NFD", make_unicode<NormalForm::kNfd>},
      {"NFKC", make_unicode<NormalForm::kNfkc>},
      {"NFKD", make_unicode<NormalForm::kNfkd>},
      {"Lowercase", make_plain<LowercaseNormalizer>},
      {"StripAccents", make_plain<StripAccentsNormalizer>},
      {"Nmt", make_plain<NmtNormalizer>},
      {"ByteLevel", make_plain<ByteLevelNormalizer>},
      {"Strip", make_strip},
      {"Replace", make_replace},
      {"Prepend", make_prepend},
      {"BertNormalizer", make_bert},
      {"Precompiled", make_precompiled},
  };
  return table;
}

}  // namespace

Made read_normalizer(const JsonObject& object) {
  const std::string& type = object.string("type");
  const auto found = makers().find(type);
  if (found == makers().end()) {
    throw Error(ErrorCode::kUnsupported, object.subject(), "unknown normalizer '" + type + "'");
  }
  return found->second(object);
}

}  // namespace quire
