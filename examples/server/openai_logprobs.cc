// SPDX-License-Identifier: Apache-2.0
#include "openai_logprobs.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "request_fields.h"

namespace server {
namespace {

using cli::Fields;
using cli::Json;

constexpr std::int64_t kMostShown = 20;

void refuse_in_streams(const Fields& body) {
  if (body.boolean("stream").value_or(false)) body.wrong("logprobs", "none in a stream");
}

std::string text_of(const quire::Tokenizer& tokenizer, quire::TokenId id) {
  return tokenizer.decode({&id, 1});
}

// The tokens that are the text: all but an ending EOS.
std::size_t text_tokens(const quire::Choice& choice) {
  const bool ended = choice.finish_reason == quire::FinishReason::kEos && !choice.ids.empty();
  return std::min(choice.ids.size() - (ended ? 1 : 0), choice.chosen_logprobs.size());
}

std::span<const std::pair<quire::TokenId, float>> likeliest(const quire::Choice& choice,
                                                            std::size_t step, int shown) {
  const std::span<const std::pair<quire::TokenId, float>> all = choice.logprobs.at(step);
  return all.first(std::min(all.size(), static_cast<std::size_t>(shown)));
}

Json token_json(const quire::Tokenizer& tokenizer, quire::TokenId id, float logprob) {
  const std::string text = text_of(tokenizer, id);
  Json bytes = Json::array();
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", text}, {"logprob", logprob}, {"bytes", std::move(bytes)}};
}

}  // namespace

std::optional<int> chat_logprobs_of(const Fields& body) {
  const auto top = integer_of(body, "top_logprobs", 0, kMostShown);
  if (!body.boolean("logprobs").value_or(false)) {
    if (top) body.wrong("top_logprobs", "none without \"logprobs\": true");
    return std::nullopt;
  }
  refuse_in_streams(body);
  return static_cast<int>(top.value_or(0));
}

std::optional<int> completion_logprobs_of(const Fields& body) {
  const auto shown = integer_of(body, "logprobs", 0, kMostShown);
  if (!shown) return std::nullopt;
  refuse_in_streams(body);
  return static_cast<int>(*shown);
}

int reported_logprobs(std::optional<int> shown) { return shown ? std::max(*shown, 1) : 0; }

Json chat_logprobs(const quire::Tokenizer& tokenizer, const quire::Choice& choice, int shown) {
  Json content = Json::array();
  for (std::size_t i = 0; i < text_tokens(choice); ++i) {
    Json step = token_json(tokenizer, choice.ids[i], choice.chosen_logprobs[i]);
    step["top_logprobs"] = Json::array();
    for (const auto& [id, logprob] : likeliest(choice, i, shown)) {
      step["top_logprobs"].push_back(token_json(tokenizer, id, logprob));
    }
    content.push_back(std::move(step));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Json completion_logprobs(const quire::Tokenizer& tokenizer, const quire::Choice& choice, int shown,
                         std::size_t offset) {
  Json json = {{"tokens", Json::array()},
               {"token_logprobs", Json::array()},
               {"top_logprobs", Json::array()},
               {"text_offset", Json::array()}};
  for (std::size_t i = 0; i < text_tokens(choice); ++i) {
    const std::string text = text_of(tokenizer, choice.ids[i]);
    Json top = Json::object();
    for (const auto& [id, logprob] : likeliest(choice, i, shown)) {
      top[text_of(tokenizer, id)] = logprob;
    }
    json["tokens"].push_back(text);
    json["token_logprobs"].push_back(choice.chosen_logprobs[i]);
    json["top_logprobs"].push_back(std::move(top));
    json["text_offset"].push_back(offset);
    offset += text.size();
  }
  return json;
}

}  // namespace server
