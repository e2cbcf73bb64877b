// SPDX-License-Identifier: Apache-2.0
#include "text/gguf_tokenizer.h"

#include <quire/error.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/bpe.h"
#include "text/score_bpe.h"
#include "text/word_piece.h"

namespace quire {

namespace {

constexpr const char* kModel = "tokenizer.ggml.model";
constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kScores = "tokenizer.ggml.scores";
constexpr const char* kMerges = "tokenizer.ggml.merges";

enum TokenType : std::int64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

class Reader {
 public:
  explicit Reader(const GgufFile& file) : file_(file), tokens_(file.strings(kTokens)) {
    if (tokens_.empty()) file_.fail(kTokens, "it is empty");
    types_.assign(tokens_.size(), kNormal);
    if (file_.has(kTypes)) types_ = file_.integers(kTypes);
    check_count(kTypes, types_.size());
    parts_.subject = file_.path().string();
  }

  TokenizerParts read() {
    const std::string model(file_.string(kModel));
    if (model == "gpt2") {
      read_gpt2();
    } else if (model == "llama") {
      read_llama();
    } else if (model == "bert") {
      read_bert();
    } else {
      throw Error(ErrorCode::kUnsupported, parts_.subject,
                  std::string(kModel) + ": unknown tokenizer '" + model + "'");
    }
    parts_.added.build(added_tokens(), [](std::string_view text) { return std::string(text); });
    return std::move(parts_);
  }

 private:
  void check_count(const char* key, std::size_t count) const {
    if (count == tokens_.size()) return;
    file_.fail(key, "expected " + std::to_string(tokens_.size()) +
                        " entries, one for each token, " + "found " + std::to_string(count));
  }

  // Empty entries are padding: ids without a piece.
  std::shared_ptr<Vocabulary> vocabulary(std::string (*spelling)(std::string_view)) const {
    auto out = std::make_shared<Vocabulary>();
    out->reserve(tokens_.size(), 8 * tokens_.size());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].empty()) continue;
      const std::string piece = spelling(tokens_[i]);
      if (out->add(piece, static_cast<TokenId>(i)) != Vocabulary::Added::kYes) {
        file_.fail(kTokens, "'" + std::string(tokens_[i]) + "' stands twice, as " +
                                std::to_string(out->find(piece)) + " and " + std::to_string(i));
      }
    }
    return out;
  }

  static std::string as_written(std::string_view piece) { return std::string(piece); }

  std::optional<TokenId> id(const char* key) const {
    if (!file_.has(key)) return std::nullopt;
    const std::int64_t value = file_.integer(key);
    if (value < 0 || static_cast<std::size_t>(value) >= tokens_.size()) {
      file_.fail(key, "expected an id below " + std::to_string(tokens_.size()) + ", found " +
                          std::to_string(value));
    }
    return static_cast<TokenId>(value);
  }

  std::vector<AddedToken> added_tokens() const {
    std::vector<AddedToken> added;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const bool special = types_[i] == kControl || types_[i] == kUnknown;
      if (tokens_[i].empty() || (!special && types_[i] != kUserDefined)) continue;
      AddedToken token;
      token.content = tokens_[i];
      token.id = static_cast<TokenId>(i);
      token.special = special;
      added.push_back(std::move(token));
    }
    return added;
  }

  void read_ids() {
    parts_.bos = id("tokenizer.ggml.bos_token_id");
    parts_.unk = id("tokenizer.ggml.unknown_token_id");
    for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
                            "tokenizer.ggml.eom_token_id"}) {
      const auto found = id(key);
      if (found && std::find(parts_.eos.begin(), parts_.eos.end(), *found) == parts_.eos.end()) {
        parts_.eos.push_back(*found);
      }
    }
  }

  // BOS text EOS, each where the file, else the kind of tokenizer, says so.
  void read_template(bool add_bos, bool add_sep) {
    PostProcessor::Template wrapped;
    if (file_.boolean_or("tokenizer.ggml.add_bos_token", add_bos) && parts_.bos) {
      wrapped.emplace_back(parts_.bos);
    }
    wrapped.emplace_back();
    if (file_.boolean_or("tokenizer.ggml.add_eos_token", false) && !parts_.eos.empty()) {
      wrapped.emplace_back(parts_.eos.front());
    }
    if (file_.boolean_or("tokenizer.ggml.add_sep_token", add_sep)) {
      if (const auto sep = id("tokenizer.ggml.seperator_token_id")) wrapped.emplace_back(sep);
    }
    parts_.post_processor.add(std::move(wrapped));
  }

  MergeTable merges(const Vocabulary& vocabulary) const {
    const std::vector<std::string_view> merges = file_.strings(kMerges);
    MergeTable table;
    table.reserve(merges.size());
    std::string joined;
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const std::size_t space = merges[i].find(' ', 1);
      if (space == std::string_view::npos) {
        file_.fail(kMerges, "merge " + std::to_string(i) + " is not two tokens: '" +
                                std::string(merges[i]) + "'");
      }
      const auto id_of = [&](std::string_view piece) {
        const TokenId found = vocabulary.find(piece);
        if (found == Vocabulary::kNone) {
          file_.fail(kMerges, "merge " + std::to_string(i) + " needs '" + std::string(piece) +
                                  "', which is not among the tokens");
        }
        return found;
      };
      joined.assign(merges[i].substr(0, space)).append(merges[i].substr(space + 1));
      table.put(id_of(merges[i].substr(0, space)), id_of(merges[i].substr(space + 1)),
                {static_cast<std::uint32_t>(i), id_of(joined)});
    }
    return table;
  }

  void read_gpt2() {
    parts_.kind = "byte-level BPE";
    read_ids();
    const GgufPre pre = read_gguf_pre(file_.string_or("tokenizer.ggml.pre", "default"),
                                      parts_.subject, parts_.pre_tokenizers);
    const auto pieces = vocabulary(as_written);
    parts_.vocabulary = pieces;
    BpeOptions options;
    options.ignore_merges = pre.ignore_merges;
    options.raw_bytes = true;
    parts_.model = std::make_unique<Bpe>(pieces, merges(*pieces), options, parts_.subject);
    parts_.decoder.push_back(byte_level_step());
    read_template(pre.add_bos, pre.add_sep);
  }

  void read_llama() {
    parts_.kind = "sentencepiece";
    read_ids();
    const auto pieces = vocabulary(as_written);
    parts_.vocabulary = pieces;
    ScoreBpe::Options options;
    options.scores = file_.floats(kScores);
    check_count(kScores, options.scores.size());
    options.joins.resize(tokens_.size());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      options.joins[i] = types_[i] == kNormal || types_[i] == kUserDefined || types_[i] == kUnused;
    }
    options.unk = parts_.unk.value_or(Vocabulary::kNone);
    parts_.model = std::make_unique<ScoreBpe>(pieces, std::move(options), parts_.subject);
    const bool prefix = file_.boolean_or("tokenizer.ggml.add_space_prefix", true);
    std::vector<std::unique_ptr<const Normalizer>> normalizers;
    if (prefix) normalizers.push_back(std::make_unique<PrependNormalizer>("▁"));
    normalizers.push_back(std::make_unique<ReplaceTextNormalizer>(" ", "▁"));
    parts_.normalizer = std::make_unique<SequenceNormalizer>(std::move(normalizers));
    parts_.decoder.push_back(replace_step(std::string("▁"), " "));
    parts_.decoder.push_back(byte_fallback_step());
    parts_.decoder.push_back(fuse_step());
    if (prefix) parts_.decoder.push_back(strip_step(" ", 1, 0));
    read_template(true, false);
  }

  // "▁the" begins a word, "ing" continues one, "[CLS]" is neither: back to BERT's own spelling.
  static std::string bert_spelling(std::string_view piece) {
    constexpr std::string_view kBegin = "▁";
    if (piece.starts_with(kBegin)) return std::string(piece.substr(kBegin.size()));
    if (piece.starts_with('[') && piece.ends_with(']')) return std::string(piece);
    return "##" + std::string(piece);
  }

  void read_bert() {
    parts_.kind = "wordpiece";
    read_ids();
    const auto pieces = vocabulary(bert_spelling);
    parts_.vocabulary = pieces;
    const auto named = [&](std::optional<TokenId>& place, const char* key, const char* piece) {
      if (!place) place = id(key);
      if (!place && pieces->find(piece) != Vocabulary::kNone) place = pieces->find(piece);
    };
    named(parts_.bos, "tokenizer.ggml.cls_token_id", "[CLS]");
    named(parts_.unk, "tokenizer.ggml.unknown_token_id", "[UNK]");
    if (!parts_.unk) file_.fail("tokenizer.ggml.unknown_token_id", "expected an id, found none");
    BertNormalizer::Options normal;
    normal.lowercase = file_.boolean_or("tokenizer.ggml.normalizer.lowercase", true);
    normal.strip_accents =
        file_.boolean_or("tokenizer.ggml.normalizer.strip_accents", normal.lowercase);
    parts_.normalizer = std::make_unique<BertNormalizer>(normal);
    add_bert_splits(parts_.pre_tokenizers);
    parts_.model = std::make_unique<WordPiece>(
        pieces, WordPiece::Options{std::string(pieces->piece(*parts_.unk)), "##", 100},
        parts_.subject);
    parts_.decoder.push_back(word_piece_step("##", true));
    read_template(true, true);
  }

  const GgufFile& file_;
  std::vector<std::string_view> tokens_;
  std::vector<std::int64_t> types_;
  TokenizerParts parts_;
};

}  // namespace

TokenizerParts read_gguf_tokenizer(const GgufFile& file) { return Reader(file).read(); }

}  // namespace quire
