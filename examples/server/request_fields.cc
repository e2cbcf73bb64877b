// SPDX-License-Identifier: Apache-2.0
#include "request_fields.h"

#include <quire/error.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iomanip>
#include <limits>
#include <random>
#include <sstream>

#include "api_error.h"
#include "cli/messages.h"

namespace server {
namespace {

using cli::Fields;
using cli::Json;

constexpr int kMostNesting = 64;
constexpr std::array<std::string_view, 5> kRoles = {"system", "developer", "user", "assistant",
                                                    "tool"};

[[noreturn]] void refuse(std::string_view field, const std::string& problem) {
  throw quire::Error(quire::ErrorCode::kInvalidArgument, field, problem);
}

int nesting_of(std::string_view json) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

double number_of(const Fields& body, std::string_view key, double fallback, double least,
                 double most) {
  const std::optional<double> value = body.number(key);
  if (!value) return fallback;
  if (!(*value >= least && *value <= most)) {
    body.wrong(key, "a number from " + Json(least).dump() + " to " + Json(most).dump());
  }
  return *value;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace

Fields body_of(const Call& call) {
  if (nesting_of(call.body) > kMostNesting) {
    refuse("body", "expected JSON of at most " + std::to_string(kMostNesting) + " levels");
  }
  return Fields(call.body);
}

void check_model(const Fields& body, const std::string& id) {
  const std::optional<std::string> model = body.text("model");
  if (!model || *model == id) return;
  throw ApiError(404, "the model \"" + *model + "\" does not exist; there is \"" + id + "\"",
                 "model_not_found", "model");
}

quire::Sampling sampling_of(const Fields& body, const quire::Model& model,
                            double most_temperature) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  quire::Sampling s = model.generation_defaults().sampling;
  s.temperature = number_of(body, "temperature", s.temperature, 0, most_temperature);
  s.top_p = number_of(body, "top_p", s.top_p, 0, 1);
  s.min_p = number_of(body, "min_p", s.min_p, 0, 1);
  s.top_k = integer_of(body, "top_k", 0, kMost).value_or(s.top_k);
  s.repetition_penalty = number_of(body, "repetition_penalty", s.repetition_penalty, 1e-3, 1e3);
  const std::optional<std::int64_t> seed = body.integer("seed");
  s.seed = seed ? static_cast<std::uint64_t>(*seed) : s.temperature > 0 ? random_seed() : 0;
  return s;
}

std::optional<std::int64_t> integer_of(const Fields& body, std::string_view key, std::int64_t least,
                                       std::int64_t most) {
  const std::optional<std::int64_t> value = body.integer(key);
  if (value && (*value < least || *value > most)) {
    body.wrong(key,
               most == std::numeric_limits<std::int64_t>::max()
                   ? "an integer of at least " + std::to_string(least)
                   : "an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::vector<std::string> stop_of(const Fields& body, std::string_view key) {
  std::vector<std::string> stop = body.texts(key).value_or(std::vector<std::string>());
  if (std::ranges::any_of(stop, [](const std::string& text) { return text.empty(); })) {
    body.wrong(key, "texts that are not empty");
  }
  return stop;
}

std::optional<quire::AnswerReuse> reuse_of(const Fields& body) {
  if (!body.boolean("semantic").value_or(false)) return std::nullopt;
  return quire::AnswerReuse{};
}

std::vector<quire::Message> checked_messages(const Fields& body) {
  std::vector<quire::Message> messages = cli::messages_of(body);
  if (messages.empty()) refuse("messages", "expected at least one message, found none");
  for (const quire::Message& message : messages) {
    if (std::ranges::find(kRoles, message.role) == kRoles.end()) {
      refuse("messages", "expected the role system, developer, user, assistant or tool, found \"" +
                             message.role + "\"");
    }
    const Fields fields(message.fields_json);
    const Json* content = fields.find("content");
    if (!content) {
      if (message.role != "assistant") refuse("messages", "expected a content, found none");
    } else if (content->is_array()) {
      check_parts(*content);
    } else if (!content->is_string()) {
      fields.wrong("content", "a text or a list of texts");
    }
  }
  return messages;
}

void check_parts(const Json& parts) {
  if (parts.empty()) refuse("content", "expected at least one part, found none");
  for (const Json& part : parts) {
    const Fields fields(part.dump(-1, ' ', false, Json::error_handler_t::replace));
    const std::string type = fields.text("type").value_or("");
    if (type != "text")
      refuse("content", "expected parts of type \"text\", found \"" + type + "\"");
    if (!fields.text("text")) refuse("content", "expected a part's text, found none");
  }
}

std::string new_id(std::string_view prefix) {
  static const std::uint64_t process = random_seed();
  static std::atomic<std::uint32_t> count = 0;
  std::ostringstream id;
  id << prefix << std::hex << std::setfill('0') << std::setw(16) << process << std::setw(8)
     << count++;
  return id.str();
}

}  // namespace server
