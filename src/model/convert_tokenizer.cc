// SPDX-License-Identifier: Apache-2.0
#include "model/convert_tokenizer.h"

#include <quire/error.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "text/byte_tokens.h"
#include "text/gguf_tokenizer.h"
#include "text/template_files.h"
#include "text/vocabulary.h"

namespace quire {

namespace {

// Longer than any piece that was learnt from text. All ways to make a piece are tried and written
// out, which for a piece of a megabyte would take hours.
constexpr std::size_t kLongestPiece = 1024;

// tokenizer.ggml.token_type.
enum TokenType : std::int64_t { kNormal = 1, kUserDefined = 4, kUnused = 5 };

std::string json_text(std::string_view text) { return Json(text).dump(); }

Json regex_split(const char* pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

Json text_replacement(const char* from, const char* to) {
  return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

struct Merge {
  std::string_view left;
  std::string_view right;
};

class TokenizerWriter {
 public:
  TokenizerWriter(const GgufFile& file, const Tokenizer& tokenizer)
      : file_(file), tokenizer_(tokenizer), tokens_(file.strings("tokenizer.ggml.tokens")) {
    types_.assign(tokens_.size(), kNormal);
    if (file_.has("tokenizer.ggml.token_type")) {
      types_ = file_.integers("tokenizer.ggml.token_type");
    }
  }

  std::string write() {
    Json model = {{"type", "BPE"},
                  {"dropout", nullptr},
                  {"unk_token", nullptr},
                  {"continuing_subword_prefix", nullptr},
                  {"end_of_word_suffix", nullptr},
                  {"fuse_unk", false},
                  {"byte_fallback", false},
                  {"ignore_merges", false}};
    Json parts = {{"version", "1.0"},
                  {"truncation", nullptr},
                  {"padding", nullptr},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", nullptr},
                  {"decoder", nullptr},
                  {"added_tokens", added_tokens()},
                  {"post_processor", post_processor()}};
    const std::string_view kind = file_.string("tokenizer.ggml.model");
    std::vector<Merge> merges;
    if (kind == "gpt2") {
      merges = byte_level(model, parts);
    } else if (kind == "llama") {
      merges = by_scores(model, parts);
    } else {
      throw Error(
          ErrorCode::kUnsupported, file_.path().native(),
          "tokenizer.ggml.model: expected gpt2 or llama, found '" + std::string(kind) + "'");
    }
    return text_of(parts, model, merges);
  }

 private:
  std::vector<Merge> byte_level(Json& model, Json& parts) const {
    const GgufSplits splits =
        find_gguf_splits(file_.string_or("tokenizer.ggml.pre", "default"), file_.path().native());
    Json steps = Json::array();
    for (const char* pattern : splits.patterns) steps.push_back(regex_split(pattern));
    const Json letters = {{"type", "ByteLevel"},
                          {"add_prefix_space", false},
                          {"trim_offsets", true},
                          {"use_regex", false}};
    steps.push_back(letters);
    parts["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
    parts["decoder"] = letters;
    model["ignore_merges"] = splits.flags.ignore_merges;
    std::vector<Merge> merges;
    for (const std::string_view merge : file_.strings("tokenizer.ggml.merges")) {
      const std::size_t space = merge.find(' ', 1);
      merges.push_back({merge.substr(0, space), merge.substr(space + 1)});
    }
    return merges;
  }

  std::vector<Merge> by_scores(Json& model, Json& parts) const {
    const bool prefix = file_.boolean_or("tokenizer.ggml.add_space_prefix", true);
    Json before = Json::array();
    if (prefix) before.push_back({{"type", "Prepend"}, {"prepend", "▁"}});
    before.push_back(text_replacement(" ", "▁"));
    parts["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(before)}};
    Json after =
        Json::array({text_replacement("▁", " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}});
    if (prefix) {
      after.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    }
    parts["decoder"] = {{"type", "Sequence"}, {"decoders", std::move(after)}};
    if (const auto unk = tokenizer_.unk()) model["unk_token"] = tokenizer_.token(*unk);
    model["byte_fallback"] = std::any_of(tokens_.begin(), tokens_.end(),
                                         [](auto piece) { return byte_token_value(piece) >= 0; });
    return merges_by_scores();
  }

  // Every way to make a piece of two others, best score first: the order in which a model by scores
  // joins them. Of equal scores the earlier piece comes first, and of one piece's ways the one
  // whose parts were learnt first.
  std::vector<Merge> merges_by_scores() const {
    const std::vector<float> scores = file_.floats("tokenizer.ggml.scores");
    std::vector<std::size_t> order(tokens_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
    Vocabulary vocabulary;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (comes_from_text(i)) vocabulary.add(tokens_[i], static_cast<TokenId>(i));
    }
    std::vector<Merge> merges;
    std::vector<std::pair<std::pair<TokenId, TokenId>, Merge>> ways;
    for (const std::size_t i : order) {
      if (!comes_from_text(i)) continue;
      check_length(tokens_[i]);
      ways.clear();
      for (std::size_t cut = 1; cut < tokens_[i].size(); ++cut) {
        const Merge way = {tokens_[i].substr(0, cut), tokens_[i].substr(cut)};
        const TokenId left = vocabulary.find(way.left);
        const TokenId right = vocabulary.find(way.right);
        if (left >= 0 && right >= 0) ways.push_back({{left, right}, way});
      }
      std::sort(ways.begin(), ways.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& way : ways) merges.push_back(way.second);
    }
    return merges;
  }

  void check_length(std::string_view piece) const {
    if (piece.size() <= kLongestPiece) return;
    throw Error(ErrorCode::kUnsupported, file_.path().native(),
                "tokenizer.ggml.tokens: expected pieces of at most " +
                    std::to_string(kLongestPiece) + " bytes, found one of " +
                    std::to_string(piece.size()));
  }

  // Byte and control tokens are never joined from characters, nor joined to others.
  bool comes_from_text(std::size_t id) const {
    const std::int64_t type = types_[id];
    return !tokens_[id].empty() && (type == kNormal || type == kUserDefined || type == kUnused);
  }

  Json added_tokens() const {
    Json added = Json::array();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].empty()) continue;  // padding
      const bool special = tokenizer_.is_special(static_cast<TokenId>(i));
      if (!special && types_[i] != kUserDefined) continue;
      added.push_back({{"id", i},
                       {"content", tokens_[i]},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", special}});
    }
    return added;
  }

  // What the tokenizer puts around a text, learnt from an empty one.
  Json post_processor() const {
    const TokenIds around = tokenizer_.encode("", {.add_special = true});
    if (around.empty()) return nullptr;
    const std::size_t before = tokenizer_.adds_bos() ? 1 : 0;
    Json single = Json::array();
    Json second = Json::array();
    Json tokens = Json::object();
    const auto add = [&](std::size_t i) {
      const std::string piece = tokenizer_.token(around[i]);
      single.push_back({{"SpecialToken", {{"id", piece}, {"type_id", 0}}}});
      second.push_back({{"SpecialToken", {{"id", piece}, {"type_id", 1}}}});
      tokens[piece] = {
          {"id", piece}, {"ids", Json::array({around[i]})}, {"tokens", Json::array({piece})}};
    };
    for (std::size_t i = 0; i < before; ++i) add(i);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    second.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
    for (std::size_t i = before; i < around.size(); ++i) add(i);
    Json pair = single;
    pair.insert(pair.end(), second.begin(), second.end());
    return {{"type", "TemplateProcessing"},
            {"single", std::move(single)},
            {"pair", std::move(pair)},
            {"special_tokens", std::move(tokens)}};
  }

  // Vocabularies are long and are read by id: written straight to text, in that order.
  std::string text_of(const Json& parts, const Json& model,
                      const std::vector<Merge>& merges) const {
    std::string text = "{\n";
    for (const auto& [key, value] : parts.items()) {
      text += "  " + json_text(key) + ": " + value.dump() + ",\n";
    }
    text += "  \"model\": {\n";
    for (const auto& [key, value] : model.items()) {
      text += "    " + json_text(key) + ": " + value.dump() + ",\n";
    }
    text += "    \"vocab\": {";
    const char* separator = "\n";
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].empty()) continue;
      text += separator + std::string("      ") + json_text(tokens_[i]) + ": " + std::to_string(i);
      separator = ",\n";
    }
    text += "\n    },\n    \"merges\": [";
    separator = "\n";
    for (const Merge& merge : merges) {
      text += separator + std::string("      [") + json_text(merge.left) + ", " +
              json_text(merge.right) + ']';
      separator = ",\n";
    }
    return text + "\n    ]\n  }\n}\n";
  }

  const GgufFile& file_;
  const Tokenizer& tokenizer_;
  std::vector<std::string_view> tokens_;
  std::vector<std::int64_t> types_;
};

// One text, or a list of named ones when the file has more.
Json chat_templates(const GgufFile& file) {
  constexpr std::string_view kKey = "tokenizer.chat_template";
  constexpr std::string_view kBeforeName = "tokenizer.chat_template.";
  Json named = Json::array();
  for (const GgufEntry& entry : file.entries()) {
    if (entry.key != kKey && !entry.key.starts_with(kBeforeName)) continue;
    const std::string_view name =
        entry.key == kKey ? "default" : entry.key.substr(kBeforeName.size());
    named.push_back({{"name", name}, {"template", file.string(entry.key)}});
  }
  const bool only_default = named.size() == 1 && named[0]["name"] == "default";
  return only_default ? named[0]["template"] : named;
}

}  // namespace

std::string tokenizer_json_of(const GgufFile& file, const Tokenizer& tokenizer) {
  return TokenizerWriter(file, tokenizer).write();
}

Json tokenizer_config_of(const GgufFile& file, std::int64_t context) {
  Json json = {{"tokenizer_class", "PreTrainedTokenizerFast"},
               {"clean_up_tokenization_spaces", false},
               {"model_max_length", context}};
  for (const auto& [name, text] : read_template_files(file.path()).tokens) json[name] = text;
  if (Json templates = chat_templates(file); !templates.empty()) {
    json["chat_template"] = std::move(templates);
  }
  return json;
}

}  // namespace quire
