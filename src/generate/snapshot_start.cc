// SPDX-License-Identifier: Apache-2.0
#include "generate/snapshot_start.h"

#include <quire/error.h>

#include <algorithm>
#include <string>

#include "prefix/name_space.h"
#include "prompt/common_prefix.h"

namespace quire {

SnapshotStart start_from(const Snapshot& snapshot, std::span<const TokenId> prompt,
                         std::int64_t reusable) {
  const std::span<const TokenId> held = snapshot.ids();
  const bool whole = !snapshot.logits().empty() && std::ranges::equal(held, prompt);
  const std::int64_t most = std::ssize(prompt) - (whole ? 0 : 1);
  SnapshotStart start;
  if (std::max(std::ssize(prompt), std::ssize(held)) > reusable) {
    start.why = {.reason = MissReason::kDisabled, .at = 0, .field = "rope"};
  } else {
    const CommonPrefix common = common_prefix(held, prompt, most);
    start.reused = common.tokens;
    start.why = common.why;
    start.cache = snapshot.fork(common.tokens);
    if (!start.cache) start.why = {.reason = MissReason::kEvicted, .at = 0};
  }
  if (!start.cache) {
    start.reused = 0;
    start.cache = snapshot.fork(0);
  }
  if (whole && start.reused == most) start.logits = snapshot.logits();
  return start;
}

void check_owner(const Snapshot& snapshot, const PrefixModel& model, const PrefixScope& scope) {
  const NameSpace own = make_name_space(snapshot.model(), 0, snapshot.scope());
  const NameSpace asked = make_name_space(model, 0, scope);
  const std::string_view field = own.difference(asked);
  if (field.empty()) return;
  throw Error(ErrorCode::kInvalidArgument, "snapshot",
              "expected one of an equal " + std::string(field) + ", found another");
}

}  // namespace quire
