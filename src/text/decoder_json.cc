// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace quire {

namespace {

using Made = std::unique_ptr<const DecoderStep>;

std::size_t read_count(const JsonObject& object, const char* key) {
  const std::int64_t count = object.integer(key);
  if (count < 0) object.fail(key, "expected a count, found " + std::to_string(count));
  return static_cast<std::size_t>(count);
}

Made make_strip(const JsonObject& object) {
  const std::string& content = object.string("content");
  if (count_characters(content) != 1) object.fail("content", "expected one character");
  return strip_step(content, read_count(object, "start"), read_count(object, "stop"));
}

Made make_replace(const JsonObject& object) {
  JsonPattern pattern = read_pattern(object);
  const std::string& content = object.string("content");
  if (pattern.is_regex) return replace_step(Regex(pattern.text, object.subject()), content);
  if (pattern.text.empty()) object.fail("pattern", "it is empty");
  return replace_step(std::move(pattern.text), content);
}

Made make_metaspace(const JsonObject& object) {
  const std::string replacement = object.string_or("replacement", "▁");
  if (count_characters(replacement) != 1) object.fail("replacement", "expected one character");
  const bool prefix = object.boolean_or("add_prefix_space", true);
  return metaspace_step(replacement,
                        object.string_or("prepend_scheme", prefix ? "always" : "never") != "never");
}

Made make_word_piece(const JsonObject& object) {
  return word_piece_step(object.string_or("prefix", "##"), object.boolean_or("cleanup", true));
}

Made make_bpe(const JsonObject& object) {
  const std::string suffix = object.string_or("suffix", "</w>");
  if (suffix.empty()) object.fail("suffix", "it is empty");
  return bpe_suffix_step(suffix);
}

Made make_ctc(const JsonObject& object) {
  return ctc_step(object.string_or("pad_token", "<pad>"),
                  object.string_or("word_delimiter_token", "|"),
                  object.boolean_or("cleanup", true));
}

template <Made (*kStep)()>
Made make_plain(const JsonObject&) {
  return kStep();
}

const std::map<std::string, Made (*)(const JsonObject&), std::less<>>& makers() {
  static const std::map<std::string, Made (*)(const JsonObject&), std::less<>> table = {
      {"ByteLevel", make_plain<byte_level_step>},
      {"ByteFallback", make_plain<byte_fallback_step>},
      {"Fuse", make_plain<fuse_step>},
      {"Strip", make_strip},
      {"Replace", make_replace},
      {"Metaspace", make_metaspace},
      {"WordPiece", make_word_piece},
      {"BPEDecoder", make_bpe},
      {"CTC", make_ctc},
  };
  return table;
}

}  // namespace

void read_decoder(const JsonObject& object, DecoderSteps& steps) {
  const std::string& type = object.string("type");
  if (type == "Sequence") {
    for (const JsonObject& part : read_components(object, "decoders")) read_decoder(part, steps);
    return;
  }
  const auto found = makers().find(type);
  if (found == makers().end()) {
    throw Error(ErrorCode::kUnsupported, object.subject(), "unknown decoder '" + type + "'");
  }
  steps.push_back(found->second(object));
}

}  // namespace quire
