// SPDX-License-Identifier: Apache-2.0
#include "prompt/snapshot_file.h"

#include <quire/error.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "io/new_file.h"

namespace quire {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read where they lie");

constexpr std::string_view kMagic = "quiresnp";

struct FixedHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::uint64_t checksum;
};
static_assert(sizeof(FixedHeader) == 32);

constexpr std::size_t kSummed = offsetof(FixedHeader, checksum);

std::size_t aligned(std::size_t offset) {
  return (offset + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

std::uint64_t header_checksum(const FixedHeader& fixed, std::span<const std::byte> header) {
  std::string bytes(reinterpret_cast<const char*>(&fixed), kSummed);
  bytes.append(reinterpret_cast<const char*>(header.data()), header.size());
  return checksum_of(std::as_bytes(std::span(bytes)));
}

std::string padding_of(std::size_t size) { return std::string(aligned(size) - size, '\0'); }

// Sections end at a multiple of the alignment: the checksum is that of bytes and padding.
std::uint64_t padded_checksum(std::span<const std::byte> bytes) {
  const std::size_t padding = aligned(bytes.size()) - bytes.size();
  if (padding == 0) return checksum_of(bytes);
  std::string padded(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  padded.append(padding, '\0');
  return checksum_of(std::as_bytes(std::span(padded)));
}

}  // namespace

void write_snapshot_file(const std::filesystem::path& path, Json header,
                         std::span<const SectionToWrite> sections) {
  Json list = Json::array();
  std::size_t size = 0;
  for (const SectionToWrite& section : sections) {
    list.push_back({section.bytes.size(), padded_checksum(section.bytes), section.position});
    size += aligned(section.bytes.size());
  }
  header["sections"] = std::move(list);
  std::string text = header.dump();
  FixedHeader fixed{};
  std::memcpy(fixed.magic, kMagic.data(), sizeof fixed.magic);
  fixed.version = kSnapshotVersion;
  fixed.header_bytes = static_cast<std::uint32_t>(text.size());
  text.append(aligned(sizeof fixed + text.size()) - sizeof fixed - text.size(), ' ');
  fixed.file_bytes = sizeof fixed + text.size() + size;
  fixed.checksum = header_checksum(fixed, std::as_bytes(std::span(text)));

  NewFile file(path);
  file.write(std::as_bytes(std::span(&fixed, 1)));
  file.write(text);
  for (const SectionToWrite& section : sections) {
    file.write(section.bytes);
    file.write(padding_of(section.bytes.size()));
  }
  file.publish();
}

SnapshotFile::SnapshotFile(const std::filesystem::path& path) : name_(path.string()), file_(path) {
  const std::string_view text = read_fixed_header();
  header_ = parse_json(text, name_);
  read_sections(aligned(sizeof(FixedHeader) + text.size()));
}

void SnapshotFile::fail(const std::string& problem) const {
  throw Error(ErrorCode::kCorrupt, name_, problem);
}

// Returns the header's text.
std::string_view SnapshotFile::read_fixed_header() {
  FixedHeader fixed;
  if (!file_.text().starts_with(kMagic)) fail("expected a snapshot, found no such magic");
  if (file_.size() < sizeof fixed) fail("expected a header, found the file's end");
  std::memcpy(&fixed, file_.bytes().data(), sizeof fixed);
  if (fixed.version != kSnapshotVersion) {
    throw Error(ErrorCode::kUnsupported, name_,
                "expected version " + std::to_string(kSnapshotVersion) + ", found " +
                    std::to_string(fixed.version));
  }
  if (fixed.file_bytes != file_.size()) {
    fail("expected " + std::to_string(fixed.file_bytes) + " bytes, found " +
         std::to_string(file_.size()));
  }
  const std::size_t end = aligned(sizeof fixed + fixed.header_bytes);
  if (end > file_.size())
    fail("expected a header of " + std::to_string(fixed.header_bytes) +
         " bytes, found the file's end");
  const auto header = file_.bytes().subspan(sizeof fixed, end - sizeof fixed);
  if (header_checksum(fixed, header) != fixed.checksum) {
    fail("expected a header with its checksum, found another header");
  }
  return file_.text().substr(sizeof fixed, fixed.header_bytes);
}

void SnapshotFile::read_sections(std::size_t begin) {
  const Json& list = JsonObject(header_, name_).at("sections");
  if (!list.is_array() || list.size() < std::size(kNamedSections)) {
    fail("expected a list of sections");
  }
  for (const Json& entry : list) {
    const bool valid = entry.is_array() && entry.size() == 3 && entry[0].is_number_unsigned() &&
                       entry[1].is_number_unsigned() && entry[2].is_number_unsigned();
    if (!valid) fail("expected sections of size, checksum and position");
    const auto size = entry[0].get<std::size_t>();
    if (size > file_.size() - begin || aligned(size) > file_.size() - begin) {
      fail("expected a section of " + std::to_string(size) + " bytes, found the file's end");
    }
    sections_.push_back({file_.bytes().subspan(begin, aligned(size)), entry[1].get<std::uint64_t>(),
                         entry[2].get<std::int64_t>()});
    sizes_.push_back(size);
    begin += aligned(size);
  }
  if (begin != file_.size()) fail("expected the file's end after the last section");
}

std::span<const std::byte> SnapshotFile::bytes(std::size_t section) const {
  return sections_[section].bytes.first(sizes_[section]);
}

}  // namespace quire
