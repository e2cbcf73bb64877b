// SPDX-License-Identifier: Apache-2.0
#include <quire/model.h>
#include <quire/snapshot.h>

#include "generate/snapshot_start.h"

namespace quire {

PrefixModel snapshot_model(const Model& model) {
  return {model.fingerprint(), model.kv_spec(), model.tokenizer_fingerprint()};
}

Snapshot Snapshot::load(const std::filesystem::path& path, const Model& model,
                        const SnapshotLoadOptions& options) {
  return load(path, snapshot_model(model), options);
}

}  // namespace quire
