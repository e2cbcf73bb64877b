// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "io/sqlite.h"

namespace quire {

// The blocks of all texts as a tree of rows: each row names its parent row and its own tokens, so
// that following tokens from the namespace's root down proves a hit without any hash. The root is a
// row too, under parent 0, its "tokens" the digest. Tokens are kept in an encoding whose order is
// theirs, so that the block sharing most with a text is one of its two neighbours in the index.
// Pages lie in a table of their own, one row each, with a checksum bound to the block's key.
//
// Rows leave leaves first, so none ever names a parent that is gone.
//
// Thread-safety: one connection on one thread at a time. All throw Error, see io/sqlite.h.
inline constexpr std::int64_t kDatabasePage = 32768;  // few overflow pages a blob, little waste

// Makes the tables of a new file. Throws Error kUnsupported for a database that is another's, which
// is left as it is, or that has anything besides the tables.
void prepare_disk_file(const std::filesystem::path& file);

struct DiskReader {
  explicit DiskReader(const std::filesystem::path& file);

  // The row with these tokens after `parent`, 0 if there is none.
  std::int64_t find(std::int64_t parent, std::span<const std::byte> tokens,
                    std::int64_t* expires = nullptr);

  struct Near {
    std::int64_t id = 0;
    std::vector<TokenId> tokens = {};
    std::int64_t shared = 0;
    std::int64_t expires = 0;  // unix time in ms; 0: never
  };
  // Of the rows after `parent`, the one that shares most with these tokens.
  Near nearest(std::int64_t parent, std::span<const TokenId> tokens);

  struct Page {
    std::int64_t row = 0;
    std::int64_t checksum = 0;
    std::int64_t bytes = 0;  // 0: there is none
  };
  // A block's pages, by part. Nothing if the parts are not such as are written.
  std::optional<std::vector<Page>> pages_of(std::int64_t block);

  Sqlite database;
  SqliteStatement child, before, after, pages;
  SqliteBlob blob;
};

struct DiskWriter : DiskReader {
  explicit DiskWriter(const std::filesystem::path& file);

  std::int64_t bytes();  // in use
  void drop(std::int64_t id, std::int64_t parent);
  void drop_with_all_after(std::int64_t id);

  SqliteStatement insert, add_child, use, prolong, has_page, insert_page, victim, remove_pages,
      remove, child_of, parent_of, page_count, free_count;
};

}  // namespace quire
