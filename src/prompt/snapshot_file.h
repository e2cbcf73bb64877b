// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "io/mapped_file.h"
#include "prompt/file_section.h"

namespace quire {

// A snapshot's file, little-endian:
//
//    0  8  magic "quiresnp"
//    8  4  version
//   12  4  bytes of the header
//   16  8  bytes of the file
//   24  8  XXH3-64 of bytes [0, 24) and of the header with its padding
//   32     the header, JSON
//   then the sections, each at a multiple of 64: ids (int32), text, note, logits (float32), and
//   the pages of the KV cache, group by group.
//
// The header lists the sections' sizes and their checksums, which cover the padding too, so that
// every byte of the file is covered by one.
inline constexpr std::uint32_t kSnapshotVersion = 1;
inline constexpr std::size_t kSectionAlignment = 64;

// What precedes the pages, in this order.
inline constexpr std::string_view kNamedSections[] = {"ids", "text", "note", "logits"};

// Writes `header`, to which the list of sections is added, and the sections.
struct SectionToWrite {
  std::span<const std::byte> bytes;
  std::int64_t position = 0;
};
void write_snapshot_file(const std::filesystem::path& path, Json header,
                         std::span<const SectionToWrite> sections);

// A mapped file whose header and list of sections are consistent and unchanged; what the sections
// hold is not looked at. The constructor throws Error kCorrupt, kUnsupported (the version), and as
// MappedFile.
class SnapshotFile {
 public:
  explicit SnapshotFile(const std::filesystem::path& path);

  const Json& header() const { return header_; }
  const std::string& name() const { return name_; }

  std::size_t sections() const { return sections_.size(); }
  // Without padding.
  std::span<const std::byte> bytes(std::size_t section) const;
  // With padding.
  const FileSection& section(std::size_t section) const { return sections_[section]; }

  [[noreturn]] void fail(const std::string& problem) const;

 private:
  std::string_view read_fixed_header();
  void read_sections(std::size_t begin);

  std::string name_;
  MappedFile file_;
  Json header_;
  std::vector<FileSection> sections_;
  std::vector<std::size_t> sizes_;
};

}  // namespace quire
