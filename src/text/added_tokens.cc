// SPDX-License-Identifier: Apache-2.0
#include "text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

bool ends_with_word(std::string_view text) {
  return !text.empty() &&
         is_word_character(character_at(text, previous_character(text, text.size())).value);
}

bool starts_with_word(std::string_view text) {
  return !text.empty() && is_word_character(character_at(text, 0).value);
}

std::size_t without_trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::size_t begin = previous_character(text, end);
    if (!is_white_space(character_at(text, begin).value)) break;
    end = begin;
  }
  return end;
}

std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto [c, length] = character_at(text, at);
    if (!is_white_space(c)) break;
    at += length;
  }
  return at;
}

}  // namespace

void AddedTokens::Trie::add(std::string_view form, std::int32_t token) {
  if (form.empty()) return;
  if (nodes.empty()) {
    nodes.push_back({0, 0, -1, 0});
    roots.assign(256, 0);
  }
  const auto make = [this](unsigned char byte, std::uint32_t sibling) {
    nodes.push_back({0, sibling, -1, byte});
    return static_cast<std::uint32_t>(nodes.size() - 1);
  };
  std::uint32_t& root = roots[static_cast<unsigned char>(form[0])];
  if (root == 0) root = make(static_cast<unsigned char>(form[0]), 0);
  std::uint32_t node = root;
  for (const char c : form.substr(1)) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t child = nodes[node].child;
    while (child != 0 && nodes[child].byte != byte) child = nodes[child].sibling;
    if (child == 0) {
      child = make(byte, nodes[node].child);
      nodes[node].child = child;
    }
    node = child;
  }
  if (nodes[node].token < 0) nodes[node].token = token;
}

std::pair<std::int32_t, std::size_t> AddedTokens::Trie::longest(std::string_view text) const {
  std::pair<std::int32_t, std::size_t> found{-1, 0};
  std::uint32_t node = roots[static_cast<unsigned char>(text[0])];
  for (std::size_t length = 1; node != 0; ++length) {
    if (nodes[node].token >= 0) found = {nodes[node].token, length};
    if (length == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[length]);
    node = nodes[node].child;
    while (node != 0 && nodes[node].byte != byte) node = nodes[node].sibling;
  }
  return found;
}

void AddedTokens::build(std::vector<AddedToken> tokens,
                        const std::function<std::string(std::string_view)>& normalize) {
  tokens_ = std::move(tokens);
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    if (tokens_[i].normalized) tokens_[i].decoded = normalize(tokens_[i].content);
    by_content_.emplace(token.content, i);
    by_id_.emplace(token.id, i);
    const Stage stage = token.normalized ? Stage::kNormalized : Stage::kRaw;
    tries_[static_cast<std::size_t>(stage)].add(token.text(), static_cast<std::int32_t>(i));
  }
}

std::vector<AddedPart> AddedTokens::cut(std::string_view text, Stage stage,
                                        bool parse_special) const {
  std::vector<AddedPart> parts;
  const Trie& trie = tries_[static_cast<std::size_t>(stage)];
  std::size_t done = 0;
  for (std::size_t at = 0; !trie.nodes.empty() && at < text.size();) {
    const auto [index, length] = trie.longest(text.substr(at));
    if (index < 0) {
      ++at;
      continue;
    }
    std::size_t begin = at;
    std::size_t end = at + length;
    at = end;  // a match that is passed over below hides those inside it all the same
    const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
    if (token.special && !parse_special) continue;
    if (token.single_word &&
        (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end)))) {
      continue;
    }
    if (token.lstrip) begin = std::max(without_trailing_space(text.substr(0, begin)), done);
    if (token.rstrip) end += leading_space(text.substr(end));
    if (begin >= end) continue;  // all of it was taken along by the last one
    if (done < begin) parts.push_back({done, begin, std::nullopt});
    parts.push_back({begin, end, token.id});
    done = end;
  }
  if (done < text.size()) parts.push_back({done, text.size(), std::nullopt});
  return parts;
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const auto found = by_content_.find(std::string(content));
  return found == by_content_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(TokenId id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

}  // namespace quire
