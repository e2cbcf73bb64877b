// SPDX-License-Identifier: Apache-2.0
// Snapshot::save and load.
#include <ATen/ops/from_blob.h>
#include <quire/error.h>

#include <cstring>
#include <utility>

#include "kv/cache_parts.h"
#include "prefix/name_space.h"
#include "prompt/frozen.h"
#include "prompt/snapshot_file.h"

namespace quire {
namespace {

constexpr std::size_t kPages = std::size(kNamedSections);

// Fields that only the digest tells of: they may be secrets.
bool is_scope(std::string_view field) {
  return field == "adapter" || field == "salt" || field == "namespace";
}

std::string digest_of(const NameSpace& space) {
  const BlockKey key = space.digest();
  return std::to_string(key.high) + "-" + std::to_string(key.low);
}

Json header_of(const SnapshotParts& parts, const CacheParts& cache) {
  const NameSpace space = make_name_space(parts.model, 0, parts.scope);
  Json fields = Json::object();
  for (const NameSpace::Field& field : space.fields) {
    if (!is_scope(field.name)) fields[std::string(field.name)] = field.value;
  }
  return {{"namespace", std::move(fields)},
          {"digest", digest_of(space)},
          {"has_text", parts.text.has_value()},
          {"cache",
           {{"kind", cache.kind},
            {"options", cache.options},
            {"length", cache.length},
            {"first", cache.first}}}};
}

// Whether the file says that it is what is asked for; throws Error kInvalidArgument if not.
void check_namespace(const SnapshotFile& file, const NameSpace& asked) {
  const JsonObject header(file.header(), file.name());
  const JsonObject fields = header.object("namespace");
  for (const NameSpace::Field& field : asked.fields) {
    if (is_scope(field.name)) continue;
    const std::string& found = fields.string(field.name);
    if (found == field.value) continue;
    throw Error(ErrorCode::kInvalidArgument, file.name(),
                "expected a snapshot of " + std::string(field.name) + " " + field.value +
                    ", found one of " + found);
  }
  if (header.string("digest") != digest_of(asked)) {
    throw Error(ErrorCode::kInvalidArgument, file.name(),
                "expected a snapshot of this namespace, salt and adapter, found one of another");
  }
}

std::vector<std::int64_t> integers(const SnapshotFile& file, const Json& list) {
  std::vector<std::int64_t> out;
  for (const Json& item : list) {
    if (!item.is_number_integer()) file.fail("expected a list of integers in its header");
    out.push_back(item.get<std::int64_t>());
  }
  return out;
}

// Borrows the file's memory, and keeps it mapped.
CacheParts cache_parts_of(const std::shared_ptr<const SnapshotFile>& file) {
  const JsonObject cache = JsonObject(file->header(), file->name()).object("cache");
  CacheParts parts;
  parts.kind = cache.string("kind");
  parts.length = cache.integer("length");
  parts.first = integers(*file, cache.at("first"));
  const JsonObject options = cache.object("options");
  for (const auto& [name, value] : options.json().items()) {
    parts.options[name] = options.integer(name);
  }
  for (std::size_t i = kPages; i < file->sections(); ++i) {
    const std::span<const std::byte> bytes = file->bytes(i);
    // Nothing writes to it: see Page.
    auto* data = const_cast<std::byte*>(bytes.data());
    parts.pages.push_back({at::from_blob(
                               data, {std::ssize(bytes)}, [file](void*) {}, at::kByte),
                           file->section(i).position});
  }
  return parts;
}

template <typename T>
std::vector<T> numbers(const SnapshotFile& file, std::size_t section) {
  const std::span<const std::byte> bytes = file.bytes(section);
  if (bytes.size() % sizeof(T) != 0) {
    file.fail("expected whole numbers in " + std::string(kNamedSections[section]));
  }
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::string text_of(const SnapshotFile& file, std::size_t section) {
  const std::span<const std::byte> bytes = file.bytes(section);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Whether the logits are worth their place: see Snapshot::save.
bool keeps_logits(const SnapshotParts& parts) {
  const auto bytes = static_cast<std::int64_t>(std::span(parts.logits).size_bytes());
  return bytes <= parts.cache->bytes() / 100 ||
         !parts.cache->can_truncate(parts.cache->length() - 1);
}

}  // namespace

void Snapshot::save(const std::filesystem::path& path) const {
  const SnapshotParts& parts = frozen_->parts;
  if (parts.model.kv.device != Device::kCpu) {
    throw Error(ErrorCode::kUnsupported, path.native(), "expected a cache on the CPU");
  }
  const std::lock_guard lock(frozen_->forking);
  frozen_->verify(parts.cache->length());
  const CacheParts cache = take_apart(*parts.cache);
  const std::span<const float> logits =
      keeps_logits(parts) ? std::span(parts.logits) : std::span<const float>();
  const std::string_view text = parts.text ? std::string_view(*parts.text) : std::string_view();
  std::vector<SectionToWrite> sections = {{std::as_bytes(std::span(parts.ids))},
                                          {std::as_bytes(std::span(text))},
                                          {std::as_bytes(std::span(parts.note))},
                                          {std::as_bytes(logits)}};
  for (const CacheParts::Page& page : cache.pages) {
    const auto* data = static_cast<const std::byte*>(page.bytes.const_data_ptr());
    sections.push_back({{data, static_cast<std::size_t>(page.bytes.numel())}, page.position});
  }
  write_snapshot_file(path, header_of(parts, cache), sections);
}

Snapshot Snapshot::load(const std::filesystem::path& path, const PrefixModel& model,
                        const SnapshotLoadOptions& options) {
  const auto file = std::make_shared<const SnapshotFile>(path);
  check_namespace(*file, make_name_space(model, 0, options.scope));
  std::vector<FileSection> pages;
  for (std::size_t i = 0; i < file->sections(); ++i) {
    if (i >= kPages && options.verify == Verify::kOnUse) {
      pages.push_back(file->section(i));
    } else {
      file->section(i).verify(file->name(), i < kPages ? kNamedSections[i] : "a page");
    }
  }
  SnapshotParts parts{.model = model, .scope = options.scope};
  parts.ids = numbers<TokenId>(*file, 0);
  if (JsonObject(file->header(), file->name()).boolean("has_text")) parts.text = text_of(*file, 1);
  parts.note = text_of(*file, 2);
  parts.logits = numbers<float>(*file, 3);
  // Before anything is made that is as large as the header says.
  const CacheParts cache = cache_parts_of(file);
  if (cache.length != std::ssize(parts.ids)) {
    file->fail("expected " + std::to_string(cache.length) + " ids, found " +
               std::to_string(parts.ids.size()));
  }
  parts.cache = put_together(model.kv, cache, file->name());
  auto frozen = std::make_shared<Frozen>();
  frozen->parts = std::move(parts);
  if (!pages.empty()) frozen->file = file;
  frozen->unverified = std::move(pages);
  Snapshot snapshot;
  snapshot.frozen_ = std::move(frozen);
  return snapshot;
}

}  // namespace quire
