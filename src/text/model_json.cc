// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "text/bpe.h"
#include "text/tokenizer_json.h"
#include "text/unigram.h"
#include "text/word_piece.h"

namespace quire {

namespace {

void add_piece(const JsonObject& object, Vocabulary& vocabulary, std::string_view piece,
               TokenId id) {
  if (vocabulary.add(piece, id) == Vocabulary::Added::kYes) return;
  const std::string other =
      vocabulary.holds(id) ? " as '" + std::string(vocabulary.piece(id)) + "'" : "";
  object.fail("vocab",
              "'" + std::string(piece) + "' has the same id " + std::to_string(id) + other);
}

// {"the": 262, …}
std::shared_ptr<Vocabulary> read_vocabulary(const JsonObject& object) {
  const Json& vocab = object.at("vocab");
  if (!vocab.is_object()) {
    object.fail("vocab", std::string("expected an object, found ") + vocab.type_name());
  }
  if (vocab.empty()) object.fail("vocab", "it is empty");
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->reserve(vocab.size(), 8 * vocab.size());
  const std::int64_t limit = Vocabulary::max_id(vocab.size());
  for (const auto& [piece, id] : vocab.items()) {
    if (!id.is_number_integer()) {
      object.fail("vocab", "the id of '" + piece + "' is no integer: " + id.dump());
    }
    const bool fits = !id.is_number_unsigned() ||
                      id.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    if (!fits || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > limit) {
      object.fail("vocab", "'" + piece + "' has the id " + id.dump() + ", expected 0 … " +
                               std::to_string(limit) + " for " + std::to_string(vocab.size()) +
                               " tokens");
    }
    add_piece(object, *vocabulary, piece, id.get<TokenId>());
  }
  return vocabulary;
}

struct MergePair {
  std::string_view left;
  std::string_view right;
};

// "Ġ t" or ["Ġ", "t"]
MergePair read_merge(const JsonObject& object, const Json& merge, std::size_t index) {
  const auto wrong = [&](std::string_view problem) {
    object.fail("merges", "merge " + std::to_string(index) + " " + std::string(problem) + ": " +
                              merge.dump());
  };
  if (merge.is_string()) {
    const std::string_view text = merge.get_ref<const std::string&>();
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      wrong("is not two tokens with a space between them");
    }
    return {text.substr(0, space), text.substr(space + 1)};
  }
  if (!merge.is_array() || merge.size() != 2 || !merge[0].is_string() || !merge[1].is_string()) {
    wrong("is not a pair of tokens");
  }
  return {merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>()};
}

MergeTable read_merges(const JsonObject& object, const Vocabulary& vocabulary,
                       std::size_t prefix_bytes) {
  const Json& merges = object.at("merges");
  if (!merges.is_array()) {
    object.fail("merges", std::string("expected a list, found ") + merges.type_name());
  }
  MergeTable table;
  table.reserve(merges.size());
  std::string joined;
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const MergePair pair = read_merge(object, merges[i], i);
    const auto id_of = [&](std::string_view piece) {
      const TokenId id = vocabulary.find(piece);
      if (id == Vocabulary::kNone) {
        object.fail("merges", "merge " + std::to_string(i) + " needs '" + std::string(piece) +
                                  "', which is not in vocab");
      }
      return id;
    };
    const TokenId left = id_of(pair.left);
    const TokenId right = id_of(pair.right);
    joined.assign(pair.left).append(pair.right.substr(std::min(prefix_bytes, pair.right.size())));
    table.put(left, right, {static_cast<std::uint32_t>(i), id_of(joined)});
  }
  return table;
}

ReadModel read_bpe(const JsonObject& object, bool raw_bytes) {
  if (object.number_or("dropout", 0.0) != 0.0) {
    object.fail("dropout", "expected none: random merges have no place here");
  }
  BpeOptions options;
  options.unk_token = object.string_or("unk_token", "");
  options.continuing_subword_prefix = object.string_or("continuing_subword_prefix", "");
  options.end_of_word_suffix = object.string_or("end_of_word_suffix", "");
  options.fuse_unk = object.boolean_or("fuse_unk", false);
  options.byte_fallback = object.boolean_or("byte_fallback", false);
  options.ignore_merges = object.boolean_or("ignore_merges", false);
  options.raw_bytes =
      raw_bytes && options.continuing_subword_prefix.empty() && options.end_of_word_suffix.empty();
  const auto vocabulary = read_vocabulary(object);
  MergeTable merges = read_merges(object, *vocabulary, options.continuing_subword_prefix.size());
  ReadModel read{nullptr, vocabulary, raw_bytes ? "byte-level BPE" : "metaspace BPE",
                 options.unk_token};
  read.model =
      std::make_unique<Bpe>(vocabulary, std::move(merges), std::move(options), object.subject());
  return read;
}

ReadModel read_word_piece(const JsonObject& object) {
  WordPiece::Options options;
  options.unk_token = object.string_or("unk_token", "[UNK]");
  options.continuing_subword_prefix = object.string_or("continuing_subword_prefix", "##");
  const std::int64_t most = object.integer_or("max_input_chars_per_word", 100);
  if (most < 0) object.fail("max_input_chars_per_word", "expected a count");
  options.max_input_chars_per_word = static_cast<std::size_t>(most);
  ReadModel read{nullptr, read_vocabulary(object), "wordpiece", options.unk_token};
  read.model = std::make_unique<WordPiece>(read.vocabulary, std::move(options), object.subject());
  return read;
}

ReadModel read_word_level(const JsonObject& object) {
  ReadModel read{nullptr, read_vocabulary(object), "word level",
                 object.string_or("unk_token", "<unk>")};
  read.model = std::make_unique<WordLevel>(read.vocabulary, read.unk_token, object.subject());
  return read;
}

ReadModel read_unigram(const JsonObject& object) {
  const Json& vocab = object.at("vocab");
  if (!vocab.is_array()) {
    object.fail("vocab", std::string("expected a list, found ") + vocab.type_name());
  }
  if (vocab.empty()) object.fail("vocab", "it is empty");
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->reserve(vocab.size(), 8 * vocab.size());
  std::vector<double> scores;
  for (const Json& entry : vocab) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number() ||
        !std::isfinite(entry[1].get<double>())) {
      object.fail("vocab", "entry " + std::to_string(scores.size()) +
                               " is not a token and its score: " + entry.dump());
    }
    add_piece(object, *vocabulary, entry[0].get_ref<const std::string&>(),
              static_cast<TokenId>(scores.size()));
    scores.push_back(entry[1].get<double>());
  }
  Unigram::Options options;
  options.byte_fallback = object.boolean_or("byte_fallback", false);
  std::string unk_token;
  if (object.has("unk_id")) {
    const std::int64_t id = object.integer("unk_id");
    if (id < 0 || static_cast<std::size_t>(id) >= scores.size()) {
      object.fail("unk_id",
                  std::to_string(id) + " is outside the vocab of " + std::to_string(scores.size()));
    }
    options.unk_id = static_cast<TokenId>(id);
    unk_token = vocabulary->piece(*options.unk_id);
  }
  ReadModel read{nullptr, vocabulary, "unigram", std::move(unk_token)};
  read.model = std::make_unique<Unigram>(vocabulary, std::move(scores), options, object.subject());
  return read;
}

}  // namespace

std::string model_type(const JsonObject& object) {
  if (object.has("type")) return object.string("type");
  if (object.has("merges")) return "BPE";
  if (object.has("vocab") && object.at("vocab").is_array()) return "Unigram";
  return object.has("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

ReadModel read_model(const JsonObject& object, bool raw_bytes) {
  const std::string type = model_type(object);
  if (type == "BPE") return read_bpe(object, raw_bytes);
  if (type == "WordPiece") return read_word_piece(object);
  if (type == "WordLevel") return read_word_level(object);
  if (type == "Unigram") return read_unigram(object);
  throw Error(ErrorCode::kUnsupported, object.subject(), "unknown model type '" + type + "'");
}

}  // namespace quire
