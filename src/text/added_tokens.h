// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quire {

// A token that is cut out of the text before the model sees it.
struct AddedToken {
  std::string content;
  TokenId id = 0;
  bool single_word = false;  // only where no letter or digit touches it
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and behind it
  bool normalized = false;   // is looked for in the normalised text, in its normalised form
  bool special = false;      // control token: left out of decoded text on request
  std::string decoded = {};  // the normalised form, where normalized: what it is decoded to

  // What is looked for, and what the token is decoded to.
  const std::string& text() const { return normalized ? decoded : content; }
};

// A part of a text: an added token, or text between them.
struct AddedPart {
  std::size_t begin;
  std::size_t end;
  std::optional<TokenId> id;
};

// The added tokens of a tokenizer, found as Hugging Face's AddedVocabulary finds them: leftmost
// match first, of those the longest; first the tokens that are not normalised, in the raw text,
// then the others in each part's normalised text.
//
// Thread-safety: immutable once built.
class AddedTokens {
 public:
  // REQUIRES: contents and ids are unique. `normalize` gives the form in which normalised tokens
  // are looked for.
  void build(std::vector<AddedToken> tokens,
             const std::function<std::string(std::string_view)>& normalize);

  enum class Stage { kRaw, kNormalized };

  // Cuts valid UTF-8 `text`. Special tokens are passed over unless parse_special.
  std::vector<AddedPart> cut(std::string_view text, Stage stage, bool parse_special) const;

  bool has(Stage stage) const { return !tries_[static_cast<std::size_t>(stage)].nodes.empty(); }

  const AddedToken* find(std::string_view content) const;  // nullptr if absent
  const AddedToken* find(TokenId id) const;
  const std::vector<AddedToken>& tokens() const { return tokens_; }

 private:
  // Bytes to follow from a node; children are chained, the root has a table.
  struct Node {
    std::uint32_t child;
    std::uint32_t sibling;
    std::int32_t token;  // index into tokens_, -1 for none
    unsigned char byte;
  };
  struct Trie {
    std::vector<Node> nodes;           // empty: no tokens
    std::vector<std::uint32_t> roots;  // by first byte, 0 for none
    void add(std::string_view form, std::int32_t token);
    // Index of the longest token that begins `text`, and its length.
    std::pair<std::int32_t, std::size_t> longest(std::string_view text) const;
  };

  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, std::size_t> by_content_;
  std::unordered_map<TokenId, std::size_t> by_id_;
  Trie tries_[2];
};

}  // namespace quire
