// SPDX-License-Identifier: Apache-2.0
#include "semantic/answer_file.h"

#include <quire/error.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "semantic/answer_bytes.h"

namespace quire {

namespace {

// "Qans", and the layout of the rows.
constexpr std::int64_t kApplication = 0x51616e73;
constexpr std::int64_t kFormat = 1;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void run_for(SqliteStatement& statement, std::uint64_t id) {
  statement.bind(1, static_cast<std::int64_t>(id)).run();
}

}  // namespace

AnswerFile::AnswerFile(const std::filesystem::path& path, const EncoderMark& mark)
    : name_(path.string()), dimension_(mark.probe.size()), database_(path, 0) {
  // Held until the file is closed: what memory holds is all there is.
  database_.run("PRAGMA locking_mode = EXCLUSIVE");
  const bool is_new = is_empty();  // and nobody else's, whose file is left as it is
  database_.run("PRAGMA journal_mode = WAL");
  database_.run("PRAGMA synchronous = NORMAL");
  SqliteTransaction transaction(database_, "BEGIN IMMEDIATE");
  if (is_new) {
    prepare();
    SqliteStatement insert(database_, "INSERT INTO encoder VALUES (?1, ?2)");
    insert.bind(1, bytes_of(mark.name)).bind(2, std::as_bytes(std::span(mark.probe))).run();
  }
  check(mark);
  transaction.commit();
}

bool AnswerFile::is_empty() {
  const std::int64_t application = database_.integer("PRAGMA application_id");
  if (application == kApplication) return false;
  if (application == 0 && database_.integer("SELECT count(*) FROM sqlite_schema") == 0) return true;
  throw Error(ErrorCode::kInvalidArgument, name_,
              "expected a semantic cache's file, found another program's database");
}

void AnswerFile::prepare() {
  database_.run(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
  database_.run(("PRAGMA user_version = " + std::to_string(kFormat)).c_str());
  database_.run("CREATE TABLE encoder (name BLOB, probe BLOB)");
  database_.run(
      "CREATE TABLE answers (id INTEGER PRIMARY KEY, body BLOB NOT NULL, "
      "state BLOB NOT NULL)");
}

void AnswerFile::check(const EncoderMark& mark) {
  const std::int64_t format = database_.integer("PRAGMA user_version");
  if (format != kFormat) {
    throw Error(ErrorCode::kUnsupported, name_,
                "expected format " + std::to_string(kFormat) + ", found " + std::to_string(format));
  }
  SqliteStatement select(database_, "SELECT name, probe FROM encoder");
  if (!select.step()) corrupt("expected the encoder's name, found none");
  const std::string name(text_of(select.bytes(0)));
  if (name != mark.name) {
    throw Error(ErrorCode::kInvalidArgument, name_,
                "expected vectors of the encoder " + mark.name + ", found those of " + name);
  }
  const auto bytes = select.bytes(1);
  std::vector<float> probe(bytes.size() / sizeof(float));
  if (!probe.empty()) std::memcpy(probe.data(), bytes.data(), probe.size() * sizeof(float));
  // Two runs on different processors differ by far less, two encoders by far more.
  constexpr float kSame = 0.999F;
  if (probe.size() != dimension_ ||
      std::inner_product(probe.begin(), probe.end(), mark.probe.begin(), 0.0F) < kSame) {
    throw Error(ErrorCode::kInvalidArgument, name_,
                "expected vectors of this encoder, found those of another one that is named " +
                    name + " too");
  }
}

void AnswerFile::corrupt(const std::string& problem) const {
  throw Error(ErrorCode::kCorrupt, name_, problem);
}

void AnswerFile::read(const Visit& visit) {
  SqliteStatement select(database_, "SELECT id, body, state FROM answers ORDER BY id");
  while (select.step()) {
    const auto id = static_cast<std::uint64_t>(select.integer(0));
    auto row = read_row(id, select.bytes(1), select.bytes(2));
    if (!row || (!row->unit.empty() && row->unit.size() != dimension_)) {
      corrupt("answer " + std::to_string(id) + ": its checksum does not hold");
    }
    visit(std::move(row->scope), std::move(row->entry), row->unit);
  }
}

void AnswerFile::replace(std::optional<std::uint64_t> old, const SemanticScope& scope,
                         const AnswerEntry& entry, std::span<const float> unit) {
  const std::vector<std::byte> body = body_bytes(scope, entry, unit);
  const std::vector<std::byte> state = state_bytes(entry);
  SqliteTransaction transaction(database_, "BEGIN IMMEDIATE");
  if (old) {
    SqliteStatement erase(database_, "DELETE FROM answers WHERE id = ?1");
    run_for(erase, *old);
  }
  SqliteStatement insert(database_, "INSERT INTO answers VALUES (?1, ?2, ?3)");
  insert.bind(1, static_cast<std::int64_t>(entry.id)).bind(2, body).bind(3, state).run();
  transaction.commit();
}

void AnswerFile::erase(std::span<const std::uint64_t> ids) {
  SqliteTransaction transaction(database_, "BEGIN IMMEDIATE");
  SqliteStatement erase(database_, "DELETE FROM answers WHERE id = ?1");
  for (const std::uint64_t id : ids) run_for(erase, id);
  transaction.commit();
}

void AnswerFile::update(const AnswerEntry& entry) {
  const std::vector<std::byte> state = state_bytes(entry);
  SqliteStatement update(database_, "UPDATE answers SET state = ?2 WHERE id = ?1");
  update.bind(1, static_cast<std::int64_t>(entry.id)).bind(2, state).run();
}

void AnswerFile::verify(const std::vector<std::uint64_t>& ids) {
  {
    SqliteStatement check(database_, "PRAGMA integrity_check");
    if (!check.step() || text_of(check.bytes(0)) != "ok") corrupt("SQLite finds it damaged");
  }
  std::vector<std::uint64_t> found;
  read([&](const SemanticScope&, const AnswerEntry& entry, std::span<const float>) {
    found.push_back(entry.id);
  });
  if (found != ids) {
    corrupt("expected the " + std::to_string(ids.size()) + " answers in memory, found " +
            std::to_string(found.size()) + (found.size() == ids.size() ? " others" : ""));
  }
}

}  // namespace quire
