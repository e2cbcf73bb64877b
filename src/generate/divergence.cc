// SPDX-License-Identifier: Apache-2.0
#include <quire/divergence.h>
#include <quire/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "generate/cache_marks.h"
#include "generate/chat_prompt.h"
#include "generate/special_text.h"
#include "generate/text_difference.h"
#include "text/utf8.h"

namespace quire {
namespace {

constexpr std::size_t kShown = 40;  // characters around

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::int64_t characters(std::string_view text) {
  return static_cast<std::int64_t>(count_characters(text));
}

// One prompt, as text and as tokens.
struct Prompt {
  TokenIds ids;
  std::string text;
  std::vector<Message> messages;  // empty: a text or ids
  RenderOptions options;
};

class Comparison {
 public:
  Comparison(const Generator& generator, const Request& a, const Request& b)
      : model_(*generator.model()), chat_(model_.tokenizer(), model_.chat_template()) {
    a_ = prompt_of(generator, a);
    b_ = prompt_of(generator, b);
  }

  Divergence find() const {
    const auto [x, y] = std::ranges::mismatch(a_.ids, b_.ids);
    Divergence out;
    out.shared = x - a_.ids.begin();
    if (x == a_.ids.end() && y == b_.ids.end()) return out;
    out.index = out.shared;
    const std::size_t at = offset_of(a_, out.shared);
    const std::size_t bt = offset_of(b_, out.shared);
    out.a = side(a_, out.shared, at);
    out.b = side(b_, out.shared, bt);
    add_suspects(out, at, bt);
    return out;
  }

 private:
  Prompt prompt_of(const Generator& generator, const Request& request) const {
    Prompt prompt{.ids = generator.tokenize(request), .text = {}, .messages = {}, .options = {}};
    if (!request.messages.empty()) {
      prompt.messages = prepare(chat_, request.messages).messages;
      prompt.options.tools_json = request.tools_json;
      prompt.options.add_generation_prompt = true;
      prompt.text = chat_.render(prompt.messages, prompt.options);
    } else if (request.prompt) {
      prompt.text = *request.prompt;
    } else if (model_.tokenizer()) {
      prompt.text = model_.tokenizer()->decode(prompt.ids);
    }
    return prompt;
  }

  std::string decode(std::span<const TokenId> ids) const {
    return model_.tokenizer() ? model_.tokenizer()->decode(ids) : std::string();
  }

  // The byte of the text at which token `index` begins. A BOS that the text does not spell is none
  // of it.
  std::size_t offset_of(const Prompt& prompt, std::int64_t index) const {
    std::span<const TokenId> ids = std::span(prompt.ids).first(static_cast<std::size_t>(index));
    if (!ids.empty() && model_.tokenizer() && ids[0] == model_.tokenizer()->bos() &&
        !prompt.text.starts_with(decode(ids.first(1)))) {
      ids = ids.subspan(1);
    }
    return common_bytes(prompt.text, decode(ids));
  }

  DivergenceSide side(const Prompt& prompt, std::int64_t index, std::size_t offset) const {
    DivergenceSide side;
    if (index < std::ssize(prompt.ids)) {
      side.id = prompt.ids[static_cast<std::size_t>(index)];
      side.text = decode({&*side.id, 1});
    }
    side.before = last_characters(std::string_view(prompt.text).substr(0, offset), kShown);
    side.after = first_characters(std::string_view(prompt.text).substr(offset), kShown);
    if (prompt.messages.empty()) {
      side.character = characters(std::string_view(prompt.text).substr(0, offset));
      return side;
    }
    for (std::size_t i = 0; i < prompt.messages.size(); ++i) {
      const auto span = content_of(prompt, i);
      if (!span || offset > span->end || offset + side.text.size() <= span->begin) continue;
      side.message = static_cast<std::int64_t>(i);
      side.character = 0;
      if (offset > span->begin) {
        side.character =
            characters(std::string_view(prompt.text).substr(span->begin, offset - span->begin));
      }
      break;
    }
    return side;
  }

  // Where a message's content stands in the text.
  std::optional<Span> content_of(const Prompt& prompt, std::size_t message) const {
    const std::string mark = unused_mark(prompt.messages, prompt.options);
    auto marked = with_mark(prompt.messages[message], {.message = message}, mark);
    if (!marked) return std::nullopt;
    std::string content = text_of(prompt.messages[message]);
    std::vector<Message> all = prompt.messages;
    all[message] = std::move(*marked);
    const std::string text = chat_.render(all, prompt.options);
    if (text.find(mark) == std::string::npos) return std::nullopt;
    const std::size_t end = common_bytes(prompt.text, text);
    const std::string_view before = std::string_view(prompt.text).substr(0, end);
    // Templates trim.
    for (const std::string_view shown : {std::string_view(content), trimmed(content)}) {
      if (before.ends_with(shown)) return Span{end - shown.size(), end};
    }
    return std::nullopt;
  }

  static bool is_system(const Message& message) {
    const std::string role = role_of(message);
    return role == "system" || role == "developer";
  }
  static bool has_system(const Prompt& prompt) {
    return std::ranges::any_of(prompt.messages, is_system);
  }

  // The system prompt that the template fills in: what stands where it would put a given one.
  std::optional<Span> default_system(const Prompt& prompt) const {
    if (prompt.messages.empty() || has_system(prompt)) return std::nullopt;
    const std::string mark = unused_mark(prompt.messages, prompt.options);
    std::vector<Message> all = {{"system", mark}};
    all.insert(all.end(), prompt.messages.begin(), prompt.messages.end());
    try {
      const std::string given = chat_.render(all, prompt.options);
      const std::size_t begin = given.find(mark);
      if (begin == std::string::npos || !prompt.text.starts_with(given.substr(0, begin))) {
        return std::nullopt;
      }
      std::size_t end = prompt.text.size();
      const auto specials = SpecialText(*model_.tokenizer()).find(prompt.text);
      for (const SpecialText::Span& special : specials) {
        if (special.begin >= begin) end = std::min(end, special.begin);
      }
      if (const auto first = content_of(prompt, 0)) end = std::min(end, first->begin);
      if (end <= begin) return std::nullopt;
      return Span{begin, end};
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kTemplate) throw;
      return std::nullopt;  // it has no place for one
    }
  }

  void add_suspects(Divergence& out, std::size_t at, std::size_t bt) const {
    const auto inside = [&](const Prompt& prompt, std::size_t offset) {
      const auto span = default_system(prompt);
      return span && span->begin <= offset && offset <= span->end;
    };
    const auto in_system = [](const Prompt& prompt, const DivergenceSide& side) {
      return side.message && is_system(prompt.messages[static_cast<std::size_t>(*side.message)]);
    };
    const auto add = [&](bool found, Suspect suspect) {
      if (found) out.suspects.push_back(suspect);
    };
    const bool filled_in = inside(a_, at) || inside(b_, bt);
    add(filled_in, Suspect::kDefaultSystemPrompt);
    add(!filled_in &&
            (in_system(a_, out.a) || in_system(b_, out.b) ||
             (!a_.messages.empty() && !b_.messages.empty() && has_system(a_) != has_system(b_))),
        Suspect::kSystemPrompt);
    add(dates_differ(a_.text, b_.text), Suspect::kDate);
    add_white_space(out);
    add_tools(out);
  }

  void add_white_space(Divergence& out) const {
    const auto space = white_space_difference(a_.text, b_.text);
    if (!space) return;
    const auto ends = [&](const Prompt& prompt, std::size_t offset) {
      if (offset == prompt.text.size()) return true;
      for (std::size_t i = 0; i < prompt.messages.size(); ++i) {
        const auto span = content_of(prompt, i);
        if (span &&
            trimmed(std::string_view(prompt.text).substr(offset, span->end - offset)).empty() &&
            span->begin <= offset && offset <= span->end) {
          return true;
        }
      }
      return false;
    };
    const bool trailing = ends(a_, space->a) || ends(b_, space->b);
    out.suspects.push_back(trailing ? Suspect::kTrailingSpace : Suspect::kWhiteSpace);
  }

  void add_tools(Divergence& out) const {
    const auto list = [](const Prompt& prompt) {
      std::vector<std::string> tools;
      if (prompt.options.tools_json.empty()) return tools;
      for (const auto& tool : nlohmann::json::parse(prompt.options.tools_json)) {
        tools.push_back(tool.dump());
      }
      return tools;
    };
    std::vector<std::string> a = list(a_);
    std::vector<std::string> b = list(b_);
    if (a == b) return;
    std::ranges::sort(a);
    std::ranges::sort(b);
    out.suspects.push_back(a == b ? Suspect::kToolOrder : Suspect::kTools);
  }

  const Model& model_;
  const ChatPrompt chat_;
  Prompt a_;
  Prompt b_;
};

}  // namespace

std::string_view to_string(Suspect suspect) {
  switch (suspect) {
    case Suspect::kDefaultSystemPrompt:
      return "default system prompt injected by the template";
    case Suspect::kSystemPrompt:
      return "other system prompt";
    case Suspect::kDate:
      return "date";
    case Suspect::kTrailingSpace:
      return "trailing space";
    case Suspect::kWhiteSpace:
      return "white space";
    case Suspect::kToolOrder:
      return "tool order";
    case Suspect::kTools:
      return "other tools";
  }
  return "unknown";
}

Divergence find_divergence(const Generator& generator, const Request& a, const Request& b) {
  return Comparison(generator, a, b).find();
}

}  // namespace quire
