// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/prefix_index.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cli {

// A block-hash trace: JSON Lines, one request a line in arrival order, `hash_ids` its prompt's
// blocks, each id standing for that block and everything before it (the formats of the Mooncake
// and agentic traces). Plain or gzip.
struct Trace {
  std::vector<quire::TokenIds> requests;  // hash ids, as one-token blocks of a PrefixIndex
  std::vector<std::int64_t> tokens;       // input_length of each; 0 where the trace has none
  std::int64_t blocks = 0;                // over all requests
};

// Throws Error: kNotFound, kIo, kCorrupt naming the line. `progress` sees fractions of the file.
Trace read_trace(const std::filesystem::path& path,
                 const std::function<void(double)>& progress = {});

struct ReplayOptions {
  // A name for make_eviction_policy, "default" (what a user gets) or "optimal" (evicts what is
  // needed last, or never admits it: no policy can do better).
  std::string policy = "default";
  std::int64_t capacity_blocks = 0;  // 0: unbounded
  std::int64_t block_size = 0;       // tokens a hash stands for; 0: unknown
};

struct HitRatios {
  double blocks = 0;
  double tokens = 0;  // of what can be reused: all but a request's last token; 0 if unknown
  std::vector<std::int64_t> hits = {};  // blocks of each request that were found
};

// Serves one request at a time: a block is a hit only if every block before it is; then the
// request's blocks are stored.
HitRatios replay_trace(const Trace& trace, const ReplayOptions& options);

// The same under a policy of the caller's.
HitRatios replay_trace(const Trace& trace, std::unique_ptr<quire::EvictionPolicy> policy,
                       std::int64_t capacity_blocks);

}  // namespace cli
