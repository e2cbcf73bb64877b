// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/prefix_index.h>
#include <quire/token.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// The beginning of a text in one namespace. Its blocks are those of the prefix cache: block_size
// tokens each, the last one perhaps fewer.
struct TierText {
  BlockKey space;  // the digest of everything besides the text that its pages depend on
  std::int64_t block_size;
  std::span<const TokenId> tokens;
};

// The pages of one block as they lie in memory, one for each layer group; empty ones are absent (a
// window had moved on).
struct BlockBytes {
  std::vector<std::span<const std::byte>> pages;
};

// Receives what PageTier::load finds.
class QUIRE_EXPORT BlockReader {
 public:
  virtual ~BlockReader();

  // The next block of the text as it was stored: its tokens, the bytes of its pages, how long it
  // has still to live (0: for ever). Returns where the pages go, one place for each; nothing if no
  // more blocks are wanted.
  virtual std::vector<std::span<std::byte>> place(std::span<const TokenId> tokens,
                                                  std::span<const std::int64_t> bytes,
                                                  std::chrono::milliseconds ttl) = 0;

  // The block that was placed last is there, and as it was stored.
  virtual void placed() = 0;
};

struct TierStats {
  std::string name;
  std::int64_t loaded_blocks = 0;
  std::int64_t stored_blocks = 0;
  std::int64_t evicted_blocks = 0;   // for room
  std::int64_t rejected_blocks = 0;  // no room, or what they follow is gone
  std::int64_t corrupt_blocks = 0;   // found damaged, never served
  std::int64_t failures = 0;         // operations that failed
  std::int64_t timeouts = 0;         // of these, for want of an answer in time
  std::int64_t skipped = 0;          // operations not tried, since the tier was failing
  std::int64_t bytes = 0;            // kept now, where that is known
};

// A place behind the prefix cache's memory for pages of texts: slower, larger, and it outlives the
// process. The cache looks here for what memory lacks, before a request computes it, and writes
// here in the background.
//
// What a tier serves for a text must have been stored for that very text: a hash alone is no proof.
// No function may throw or wait for long; what fails is counted and a miss.
//
// Thread-safety: internally synchronised.
class QUIRE_EXPORT PageTier {
 public:
  enum class Kind { kDisk, kRemote };  // what hits are reported as: Reused::disk, Reused::remote

  virtual ~PageTier();
  virtual Kind kind() const = 0;

  // Gives the reader, in order, the full blocks of the text from block `first` on, as far as they
  // are known; after them the one known block that shares most with the tokens that follow. That
  // one, which may go on differently, comes without pages if it shares none.
  virtual void load(const TierText& text, std::int64_t first, BlockReader& reader) = 0;

  // Keeps the blocks from block `first` on; those before are in the tier already. `ttl` 0: for
  // ever. Returns how many are kept for good: a process that dies later does not lose them.
  virtual std::int64_t store(const TierText& text, std::int64_t first,
                             std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl) = 0;

  virtual TierStats stats() const = 0;
};

struct DiskTierOptions {
  std::int64_t bytes = 4ll << 30;  // the file's size at most, its journal (16 MiB) apart
};

// One SQLite file, which several processes may use at once and which survives the sudden death of
// any of them. The least recently used go for room, ends of texts first.
// Throws Error: kIo, kCorrupt (no database, or damaged), kUnsupported (of another program or
// version), kInvalidArgument (less than 1 MiB).
QUIRE_EXPORT std::shared_ptr<PageTier> make_disk_tier(const std::filesystem::path& file,
                                                      const DiskTierOptions& options = {});

struct RedisTierOptions {
  std::chrono::milliseconds timeout{250};  // the most that one lookup waits for it
};

// A Redis, which machines share; how much it keeps and what it forgets is its own business
// (maxmemory and allkeys-lru suit it). One that is absent, frozen or full costs no request more
// than one time-out: it is then left alone until it answers a thread that tries again, after 250 ms
// at first and 30 s at last. `url`: redis://[[user]:password@]host[:port][/database] or unix:/path.
// Throws Error: kInvalidArgument (the URL), kUnsupported (built without hiredis).
QUIRE_EXPORT std::shared_ptr<PageTier> make_redis_tier(const std::string& url,
                                                       const RedisTierOptions& options = {});

}  // namespace quire
