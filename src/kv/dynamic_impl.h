// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/dynamic_cache.h>

#include "kv/paged_sequence.h"

namespace quire {

struct DynamicCache::Impl {
  PagedSequence sequence;
};

}  // namespace quire
