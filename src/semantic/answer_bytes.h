// SPDX-License-Identifier: Apache-2.0
// An entry as bytes, for its row of a file: what never changes of it, and what hits and reports
// change. Both end with a checksum that covers the entry's id.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "semantic/answer_table.h"

namespace quire {

std::vector<std::byte> body_bytes(const SemanticScope& scope, const AnswerEntry& entry,
                                  std::span<const float> unit);
std::vector<std::byte> state_bytes(const AnswerEntry& entry);

struct AnswerRow {
  SemanticScope scope;
  AnswerEntry entry;
  std::vector<float> unit;
};

// Nothing for bytes that are not what was written.
std::optional<AnswerRow> read_row(std::uint64_t id, std::span<const std::byte> body,
                                  std::span<const std::byte> state);

}  // namespace quire
