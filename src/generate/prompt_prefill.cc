// SPDX-License-Identifier: Apache-2.0
// PromptCache::prefill.
#include <quire/generator.h>
#include <quire/prompt_cache.h>

#include <utility>

#include "generate/snapshot_start.h"

namespace quire {

Snapshot PromptCache::prefill(Generator& generator, const Request& request,
                              std::unique_ptr<KvCache> cache) {
  Snapshot from = request.snapshot;
  if (!cache && !from) {
    const TokenIds ids = generator.tokenize(request, false);
    PromptMatch match = lookup(snapshot_model(*generator.model()), ids, request.scope);
    const bool whole = match.snapshot && match.snapshot.ids().size() == ids.size() &&
                       match.tokens == std::ssize(ids);
    if (whole && match.snapshot.text() == request.prompt) return match.snapshot;
    const bool fits = match.snapshot && std::ssize(ids) <= match.snapshot.capacity();
    if (fits) from = std::move(match.snapshot);
  }
  Snapshot snapshot = generator.prefill_from(from, request, std::move(cache));
  put(content_key(snapshot), snapshot);
  return snapshot;
}

}  // namespace quire
