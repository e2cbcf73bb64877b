// SPDX-License-Identifier: Apache-2.0
#include "semantic/answer_bytes.h"

#include <string>

#include "semantic/checked_bytes.h"
#include "semantic/normalized_text.h"

namespace quire {
namespace {

using std::chrono::milliseconds;

std::int64_t to_ms(WallTime time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

WallTime from_ms(std::int64_t ms) { return WallTime(milliseconds(ms)); }

constexpr std::int64_t kNever = -1;

}  // namespace

std::vector<std::byte> body_bytes(const SemanticScope& scope, const AnswerEntry& entry,
                                  std::span<const float> unit) {
  CheckedWriter out(entry.id);
  for (const std::string* field : {&scope.name_space, &scope.model, &scope.system_prompt,
                                   &scope.history, &scope.sampling, &scope.vary, &entry.prompt}) {
    out.list(*field);
  }
  out.list(entry.ids);
  out.list(entry.answer.response);
  out.list(entry.answer.ids);
  out.number(static_cast<std::int32_t>(entry.answer.finish_reason));
  out.list(entry.answer.stop);
  out.number<std::uint64_t>(entry.tags.size());
  for (const std::string& tag : entry.tags) out.list(tag);
  out.number(static_cast<std::int32_t>(entry.blind));
  out.number<std::uint64_t>(entry.states->width);
  out.list(entry.states->codes);
  out.list(entry.states->of_word);
  out.number(to_ms(entry.stored));
  out.number<std::int64_t>(entry.ttl ? entry.ttl->count() : kNever);
  out.list(unit);
  return out.finish();
}

std::vector<std::byte> state_bytes(const AnswerEntry& entry) {
  CheckedWriter out(entry.id);
  out.number(entry.expires ? to_ms(*entry.expires) : kNever);
  out.number(entry.learned.wrong_score);
  out.number(entry.learned.right);
  out.number(entry.learned.wrong);
  return out.finish();
}

std::optional<AnswerRow> read_row(std::uint64_t id, std::span<const std::byte> body,
                                  std::span<const std::byte> state) {
  CheckedReader in(id, body);
  AnswerRow row;
  AnswerEntry& entry = row.entry;
  entry.id = id;
  for (std::string* field :
       {&row.scope.name_space, &row.scope.model, &row.scope.system_prompt, &row.scope.history,
        &row.scope.sampling, &row.scope.vary, &entry.prompt}) {
    *field = in.list<std::string>();
  }
  entry.ids = in.list<TokenIds>();
  entry.answer.response = in.list<std::string>();
  entry.answer.ids = in.list<TokenIds>();
  entry.answer.finish_reason = static_cast<FinishReason>(in.number<std::int32_t>());
  entry.answer.stop = in.list<std::string>();
  const auto tags = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < tags && in.sound(); ++i)
    entry.tags.push_back(in.list<std::string>());
  entry.blind = static_cast<SemanticMiss>(in.number<std::int32_t>());
  WordStates states;
  states.width = in.number<std::uint64_t>();
  states.codes = in.list<std::vector<std::int8_t>>();
  states.of_word = in.list<std::vector<std::int32_t>>();
  entry.states = std::make_shared<const WordStates>(std::move(states));
  entry.stored = from_ms(in.number<std::int64_t>());
  if (const auto ttl = in.number<std::int64_t>(); ttl != kNever) entry.ttl = milliseconds(ttl);
  row.unit = in.list<std::vector<float>>();
  CheckedReader changing(id, state);
  if (const auto expires = changing.number<std::int64_t>(); expires != kNever) {
    entry.expires = from_ms(expires);
  }
  entry.learned.wrong_score = changing.number<double>();
  entry.learned.right = changing.number<std::int64_t>();
  entry.learned.wrong = changing.number<std::int64_t>();
  if (!in.sound() || !changing.sound()) return std::nullopt;
  entry.normal = normalized_question(entry.prompt);
  return row;
}

}  // namespace quire
