// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/snapshot.h>

#include <utility>

#include "prompt/frozen.h"

namespace quire {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, "Snapshot", problem);
}

}  // namespace

Snapshot::Snapshot() = default;
Snapshot::~Snapshot() = default;
Snapshot::Snapshot(const Snapshot&) = default;
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(const Snapshot&) = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;

Snapshot::Snapshot(SnapshotParts parts) {
  if (!parts.cache) refuse("expected a cache, found null");
  if (parts.ids.empty()) refuse("expected at least one token, found none");
  if (parts.cache->length() != std::ssize(parts.ids)) {
    refuse("expected a cache of " + std::to_string(parts.ids.size()) + " tokens, found " +
           std::to_string(parts.cache->length()));
  }
  auto frozen = std::make_shared<Frozen>();
  frozen->parts = std::move(parts);
  frozen_ = std::move(frozen);
}

void Snapshot::Frozen::verify(std::int64_t n) const {
  const auto needed = [n](const FileSection& page) { return page.position < n; };
  for (const FileSection& page : unverified) {
    if (needed(page)) page.verify(file->name(), "a page");
  }
  std::erase_if(unverified, needed);
  if (unverified.empty()) file.reset();
}

const PrefixModel& Snapshot::model() const { return frozen_->parts.model; }
const PrefixScope& Snapshot::scope() const { return frozen_->parts.scope; }
const std::optional<std::string>& Snapshot::text() const { return frozen_->parts.text; }
std::span<const TokenId> Snapshot::ids() const { return frozen_->parts.ids; }
std::span<const float> Snapshot::logits() const { return frozen_->parts.logits; }
const std::string& Snapshot::note() const { return frozen_->parts.note; }
std::string_view Snapshot::kind() const { return frozen_->parts.cache->kind(); }
std::int64_t Snapshot::capacity() const { return frozen_->parts.cache->capacity(); }
std::int64_t Snapshot::bytes() const { return frozen_->parts.cache->bytes(); }

bool Snapshot::can_fork(std::int64_t n) const { return frozen_->parts.cache->can_truncate(n); }

std::unique_ptr<KvCache> Snapshot::fork(std::int64_t n) const {
  const KvCache& cache = *frozen_->parts.cache;
  if (!can_fork(n)) return nullptr;
  std::unique_ptr<KvCache> fork = [&] {
    const std::lock_guard lock(frozen_->forking);
    frozen_->verify(n);
    return cache.fork();
  }();
  if (n < fork->length()) fork->truncate(n);
  return fork;
}

}  // namespace quire
