// SPDX-License-Identifier: Apache-2.0
#include "generate/snapshot_prefill.h"

#include <ATen/core/Tensor.h>
#include <quire/dynamic_cache.h>

#include <span>
#include <string>
#include <utility>

#include "generate/run.h"
#include "generate/snapshot_start.h"

namespace quire {

Snapshot prefill_to_snapshot(const Reading& reading, const Snapshot& from, const Request& request,
                             const TokenIds& prompt, std::unique_ptr<KvCache> cache) {
  SnapshotParts parts{
      .model = snapshot_model(reading.model), .scope = request.scope, .ids = prompt};
  std::int64_t reused = 0;
  if (from) {
    SnapshotStart start = start_from(from, prompt, reading.reusable);
    cache = std::move(start.cache);
    reused = start.reused;
    parts.logits.assign(start.logits.begin(), start.logits.end());
  } else if (!cache) {
    cache = std::make_unique<DynamicCache>(reading.model.kv_spec());
  }
  if (reused < std::ssize(prompt)) {
    const auto fresh = std::span(prompt).subspan(static_cast<std::size_t>(reused));
    const at::Tensor logits =
        prefill(reading.model, reading.threads, fresh, *cache, reading.chunk, nullptr).cpu();
    const float* begin = logits.const_data_ptr<float>();
    parts.logits.assign(begin, begin + logits.numel());
  }
  if (request.prompt && (!request.snapshot || request.snapshot.text())) {
    parts.text = (request.snapshot ? *request.snapshot.text() : std::string()) + *request.prompt;
  }
  parts.cache = std::move(cache);
  return Snapshot(std::move(parts));
}

}  // namespace quire
