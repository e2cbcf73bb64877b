// SPDX-License-Identifier: Apache-2.0
// Owns what a process that was forked from its maker's must leave as it is, undestroyed: what the
// parent's threads wait on, and files and sockets that are the parent's.
//
// Thread-safety: as std::unique_ptr.
#pragma once

#include <memory>

#include "io/worker_thread.h"

namespace quire {

struct DeleteAtHome {
  ProcessMark mark = {};

  template <typename T>
  void operator()(T* object) const {
    if (mark.is_here()) delete object;
  }
};

template <typename T>
using HomeOwned = std::unique_ptr<T, DeleteAtHome>;

}  // namespace quire
