// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/snapshot.h>

#include <mutex>

namespace quire {

struct Snapshot::Frozen {
  SnapshotParts parts;
  // A class of the caller's own need not stand concurrent forks.
  mutable std::mutex forking;
};

}  // namespace quire
