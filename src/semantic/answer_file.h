// SPDX-License-Identifier: Apache-2.0
// A semantic cache's entries in a SQLite file: one row each, with checksums. Every change is a
// transaction of the write-ahead log, so a process that is killed loses nothing it reported stored.
//
// The file belongs to one process at a time and to one encoder: by name, by dimension, and by the
// vector it gives for a sentence.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/sqlite.h"
#include "semantic/answer_table.h"

namespace quire {

struct EncoderMark {
  std::string name;
  std::vector<float> probe;  // the unit vector of kProbe
};

// Nothing but a text that any encoder can read.
inline constexpr const char* kProbe = "What is the answer to this question?";

class AnswerFile {
 public:
  // Opens or makes it. Throws Error: kInvalidArgument (of another encoder or program), kCorrupt,
  // kIo (another process has it, or the system failed).
  AnswerFile(const std::filesystem::path& path, const EncoderMark& mark);

  // What was read of a row; `unit` is empty for an entry without a vector.
  using Visit = std::function<void(SemanticScope, AnswerEntry, std::span<const float> unit)>;
  // Every row, by id. Throws Error kCorrupt naming the first one that is damaged.
  void read(const Visit& visit);

  // In one transaction: on an Error nothing of it is in the file.
  void replace(std::optional<std::uint64_t> old, const SemanticScope& scope,
               const AnswerEntry& entry, std::span<const float> unit);
  void erase(std::span<const std::uint64_t> ids);
  void update(const AnswerEntry& entry);  // expiry and what was learned

  // Throws Error kCorrupt unless the file is sound and holds exactly these entries, by id.
  void verify(const std::vector<std::uint64_t>& ids);

 private:
  // Whether nothing is in it yet. Throws Error for another program's database.
  bool is_empty();
  void prepare();
  void check(const EncoderMark& mark);
  [[noreturn]] void corrupt(const std::string& problem) const;

  std::string name_;
  std::size_t dimension_;
  Sqlite database_;
};

}  // namespace quire
