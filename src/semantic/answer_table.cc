// SPDX-License-Identifier: Apache-2.0
#include "semantic/answer_table.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace quire {

namespace {

// What maps, sets and allocations take beside an entry's own bytes, about.
constexpr std::size_t kEntryOverhead = 512;
constexpr std::size_t kPartitionOverhead = 512;

// Puts `to` in the place of `from`; where that is there, it takes no memory.
template <typename Value>
void replace(std::set<Value>& values, const std::type_identity_t<Value>& from,
             const std::type_identity_t<Value>& to) {
  auto node = values.extract(from);
  if (node.empty()) {
    values.insert(to);
    return;
  }
  node.value() = to;
  values.insert(std::move(node));
}

std::size_t bytes_of(const SemanticScope& s) {
  return s.name_space.size() + s.model.size() + s.system_prompt.size() + s.history.size() +
         s.sampling.size() + s.vary.size();
}

}  // namespace

std::size_t AnswerEntry::bytes() const {
  // The prompt and its normal form are keys of maps too.
  std::size_t total = sizeof(*this) + kEntryOverhead + 2 * (prompt.size() + normal.size()) +
                      answer.response.size() + answer.stop.size() + states->codes.size() +
                      states->of_word.size() * sizeof(std::int32_t) +
                      (2 * ids.size() + answer.ids.size()) * sizeof(TokenId);
  for (const std::string& tag : tags) total += sizeof(tag) + tag.size();
  return total;
}

WallTime expiry_of(WallTime from, std::chrono::milliseconds ttl) {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(WallTime::max() - from);
  return ttl < left ? from + ttl : WallTime::max();
}

bool is_reusable(const StoredAnswer& answer) {
  const bool whole =
      answer.finish_reason == FinishReason::kEos || answer.finish_reason == FinishReason::kStop;
  return whole && !(answer.response.empty() && answer.ids.empty());
}

bool is_cut_off(const StoredAnswer& answer) {
  return answer.finish_reason == FinishReason::kLength && !answer.response.empty();
}

std::string exact_key(const std::string& prompt, const TokenIds& ids) {
  if (ids.empty()) return "t" + prompt;
  std::string key(1 + ids.size() * sizeof(TokenId), 'i');
  std::memcpy(key.data() + 1, ids.data(), ids.size() * sizeof(TokenId));
  return key;
}

std::string scope_key(const SemanticScope& scope) {
  std::string key;
  for (const std::string* field : {&scope.name_space, &scope.model, &scope.system_prompt,
                                   &scope.history, &scope.sampling, &scope.vary}) {
    key += std::to_string(field->size()) + ":" + *field;
  }
  return key;
}

const AnswerEntry* AnswerPartition::exact(const std::string& key) const {
  const auto found = by_exact.find(key);
  return found == by_exact.end() ? nullptr : entries[rows.at(found->second)].get();
}

const AnswerEntry* AnswerPartition::normal(const std::string& text) const {
  const auto found = by_normal.find(text);
  return found == by_normal.end() ? nullptr : entries[rows.at(found->second)].get();
}

AnswerPartition* AnswerTable::find(const SemanticScope& scope) {
  const auto found = partitions_.find(scope_key(scope));
  return found == partitions_.end() ? nullptr : found->second.get();
}

const AnswerPartition* AnswerTable::find(const SemanticScope& scope) const {
  const auto found = partitions_.find(scope_key(scope));
  return found == partitions_.end() ? nullptr : found->second.get();
}

AnswerPartition& AnswerTable::partition(const SemanticScope& scope) {
  auto& [key, place] = *partitions_.try_emplace(scope_key(scope)).first;
  if (!place) {
    place = std::make_unique<AnswerPartition>(scope, dimension_);
    place->name = &key;
    partition_bytes_ += sizeof(AnswerPartition) + kPartitionOverhead + 2 * bytes_of(scope);
  }
  return *place;
}

AnswerEntry* AnswerTable::entry(std::uint64_t id) {
  const auto found = owner_.find(id);
  if (found == owner_.end()) return nullptr;
  return found->second->entries[found->second->rows.at(id)].get();
}

AnswerPartition& AnswerTable::partition_of(std::uint64_t id) { return *owner_.at(id); }

AnswerEntry& AnswerTable::add(AnswerPartition& to, AnswerEntry entry, std::span<const float> unit) {
  const std::vector<float> zeros(unit.empty() ? dimension_ : 0);
  to.entries.push_back(std::make_unique<AnswerEntry>(std::move(entry)));
  AnswerEntry& added = *to.entries.back();
  try {
    const std::size_t before = to.vectors.bytes();
    to.vectors.add(unit.empty() ? std::span<const float>(zeros) : unit);
    vector_bytes_ += to.vectors.bytes() - before;
    to.rows.emplace(added.id, to.entries.size() - 1);
    owner_.emplace(added.id, &to);
    if (added.expires) expiries_.emplace(*added.expires, added.id);
    rank(added);
    auto& normal = *to.by_normal.try_emplace(added.normal, added.id).first;
    auto& exact = *to.by_exact.try_emplace(exact_key(added.prompt, added.ids), added.id).first;
    normal.second = added.id;
    exact.second = added.id;
    added.exact = &exact.first;
  } catch (...) {
    take_out(to, to.entries.size() - 1);
    throw;
  }
  to.stats.entries = std::ssize(to.entries);
  entry_bytes_ += added.bytes();
  return added;
}

void AnswerTable::remove(std::uint64_t id) {
  AnswerPartition& from = *owner_.at(id);
  const std::size_t row = from.rows.at(id);
  entry_bytes_ -= from.entries[row]->bytes();
  take_out(from, row);
}

void AnswerTable::remove(std::uint64_t id, std::uint64_t old) {
  AnswerPartition& from = *owner_.at(id);
  const AnswerEntry& entry = *from.entries[from.rows.at(id)];
  from.by_exact.at(*entry.exact) = old;
  from.by_normal.at(entry.normal) = old;
  remove(id);
}

// Takes an entry out of all places where it is by now. Never fails.
void AnswerTable::take_out(AnswerPartition& from, std::size_t row) {
  const std::unique_ptr<AnswerEntry> entry = std::move(from.entries[row]);
  const std::uint64_t id = entry->id;
  if (row + 1 != from.entries.size()) {
    from.entries[row] = std::move(from.entries.back());
    from.rows.at(from.entries[row]->id) = row;
  }
  from.entries.pop_back();
  from.rows.erase(id);
  if (from.vectors.rows() > from.entries.size()) {
    const std::size_t before = from.vectors.bytes();
    from.vectors.remove(row);
    vector_bytes_ -= before - from.vectors.bytes();
  }
  const auto forget = [id](auto& ids, const std::string& key) {
    const auto found = ids.find(key);
    if (found != ids.end() && found->second == id) ids.erase(found);
  };
  if (entry->exact != nullptr) forget(from.by_exact, *entry->exact);
  forget(from.by_normal, entry->normal);
  from.stats.entries = std::ssize(from.entries);
  if (entry->expires) expiries_.erase({*entry->expires, id});
  if (const auto rank = ranks_.find(id); rank != ranks_.end()) {
    order_.erase(rank->second);
    ranks_.erase(rank);
  }
  owner_.erase(id);
  if (from.entries.empty()) drop_if_bare(from);
}

// An empty scope with nothing to remember goes, so that many scopes come and go in bounded memory.
void AnswerTable::drop_if_bare(const AnswerPartition& partition) {
  if (!partition.guards && partition.stats.semantic_errors.reported == 0) drop(partition);
}

bool AnswerTable::forget_empty() {
  std::vector<const AnswerPartition*> empty;
  for (const auto& [name, partition] : partitions_) {
    if (partition->entries.empty() && !partition->guards) empty.push_back(partition.get());
  }
  for (const AnswerPartition* partition : empty) drop(*partition);
  return !empty.empty();
}

void AnswerTable::drop(const AnswerPartition& partition) {
  partition_bytes_ -= sizeof(AnswerPartition) + kPartitionOverhead + 2 * bytes_of(partition.scope);
  vector_bytes_ -= partition.vectors.bytes();
  partitions_.erase(partitions_.find(*partition.name));
}

void AnswerTable::rank(const AnswerEntry& entry) {
  const auto [place, is_new] = ranks_.try_emplace(entry.id);
  if (!is_new && eviction_ == SemanticEviction::kFifo) return;
  ++tick_;
  const Rank next{eviction_ == SemanticEviction::kLfu ? entry.uses : tick_, tick_, entry.id};
  replace(order_, std::exchange(place->second, next), next);
}

void AnswerTable::touch(AnswerEntry& entry, WallTime now, bool sliding) {
  ++entry.uses;
  rank(entry);
  if (!sliding || !entry.expires) return;
  const WallTime before = *entry.expires;
  entry.expires = expiry_of(now, *entry.ttl);
  replace(expiries_, {before, entry.id}, {*entry.expires, entry.id});
}

std::optional<std::uint64_t> AnswerTable::next_to_evict(std::optional<std::uint64_t> but) const {
  for (const Rank& rank : order_) {
    if (std::get<2>(rank) != but) return std::get<2>(rank);
  }
  return std::nullopt;
}

std::vector<std::uint64_t> AnswerTable::expired(WallTime now) const {
  std::vector<std::uint64_t> ids;
  for (const auto& [when, id] : expiries_) {
    if (when > now) break;
    ids.push_back(id);
  }
  return ids;
}

std::vector<std::uint64_t> AnswerTable::tagged(std::string_view tag) const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, partition] : owner_) {
    const AnswerEntry& entry = *partition->entries[partition->rows.at(id)];
    if (std::ranges::find(entry.tags, tag) != entry.tags.end()) ids.push_back(id);
  }
  return ids;
}

std::vector<std::uint64_t> AnswerTable::all() const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, partition] : owner_) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

std::int64_t AnswerTable::bytes() const {
  return static_cast<std::int64_t>(entry_bytes_ + partition_bytes_ + vector_bytes_);
}

}  // namespace quire
