// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/snapshot.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "prompt/snapshot_file.h"

namespace quire {

struct Snapshot::Frozen {
  SnapshotParts parts;
  // A class of the caller's own need not stand concurrent forks.
  mutable std::mutex forking;

  // Pages of a file that are still to be verified.
  mutable std::shared_ptr<const SnapshotFile> file;
  mutable std::vector<FileSection> unverified;

  // Throws Error kCorrupt unless the pages of the first n tokens are as they were written.
  // REQUIRES: `forking` is held.
  void verify(std::int64_t n) const;
};

}  // namespace quire
