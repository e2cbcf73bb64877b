// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/kv_cache.h>
#include <quire/result.h>
#include <quire/snapshot.h>
#include <quire/token.h>

#include <cstdint>
#include <memory>
#include <span>

namespace quire {

class Model;

// What snapshots of a model belong to.
PrefixModel snapshot_model(const Model& model);

// Where a request starts that continues a snapshot.
struct SnapshotStart {
  std::unique_ptr<KvCache> cache;  // holds the first `reused` tokens of the prompt
  std::int64_t reused = 0;
  WhyNotMore why;
  std::span<const float> logits;  // after the whole prompt, where the snapshot is just that
};

// Forks the longest common prefix of snapshot and prompt. Where the class cannot go back to it,
// nothing is reused; nor where either is longer than `reusable` tokens, the longest text whose keys
// and values are what they are in longer ones.
SnapshotStart start_from(const Snapshot& snapshot, std::span<const TokenId> prompt,
                         std::int64_t reusable);

// Nothing crosses models and scopes: throws Error kInvalidArgument naming what differs.
void check_owner(const Snapshot& snapshot, const PrefixModel& model, const PrefixScope& scope);

}  // namespace quire
