// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "io/json.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/pipeline.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/text_model.h"
#include "text/tokenizer_config.h"
#include "text/vocabulary.h"

namespace quire {

// Readers of the sections of a Hugging Face tokenizer.json (version 1.0, as tokenizers 0.10 to 0.23
// write it). Each throws Error kUnsupported naming a component that is not known here, and kCorrupt
// naming the key that is wrong.
//
// Thread-safety: functions without state.

// The whole file, with what the config beside it adds.
TokenizerParts read_tokenizer_json(const std::filesystem::path& file,
                                   const TokenizerConfig& config);

std::unique_ptr<const Normalizer> read_normalizer(const JsonObject& object);

// Appends the step, or a Sequence's steps. `raw_bytes`: the model takes the bytes themselves.
void read_pre_tokenizer(const JsonObject& object, bool raw_bytes, PreTokenizers& steps);
// True if the last step writes bytes in byte letters.
bool ends_in_byte_level(const JsonObject& object);

void read_post_processor(const JsonObject& object, PostProcessor& out);

void read_decoder(const JsonObject& object, DecoderSteps& steps);

struct ReadModel {
  std::unique_ptr<const TextModel> model;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string_view kind;
  std::string unk_token;  // empty: none
};
ReadModel read_model(const JsonObject& object, bool raw_bytes);
// "BPE", "WordPiece", "WordLevel" or "Unigram"; old files do not say it.
std::string model_type(const JsonObject& object);

// The components of a Sequence: `key` is an array of objects.
std::vector<JsonObject> read_components(const JsonObject& object, const char* key);

// {"String": …} or {"Regex": …}.
struct JsonPattern {
  bool is_regex;
  std::string text;
};
JsonPattern read_pattern(const JsonObject& object);

}  // namespace quire
