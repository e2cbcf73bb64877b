// SPDX-License-Identifier: Apache-2.0
#include "formats/safetensors_writer.h"

#include <quire/error.h>

#include <bit>

#include "formats/block.h"
#include "io/json.h"

namespace quire {

static_assert(std::endian::native == std::endian::little, "weights are written as they lie");

std::uint64_t SafetensorsEntry::bytes() const {
  if (layout_of(type).elements != 1) {
    throw Error(ErrorCode::kUnsupported, name,
                "safetensors files hold no blocks of type " + std::string(to_string(type)));
  }
  const auto count = byte_count(type, shape);
  if (!count) throw Error(ErrorCode::kInvalidArgument, name, "no shape of a tensor");
  return static_cast<std::uint64_t>(*count);
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::span<const SafetensorsEntry> entries)
    : path_(path), file_(path) {
  Json header = {{"__metadata__", {{"format", "pt"}}}};
  for (const SafetensorsEntry& entry : entries) {
    const std::uint64_t begin = expected_;
    expected_ += entry.bytes();
    header[entry.name] = {{"dtype", to_string(entry.type)},
                          {"shape", entry.shape},
                          {"data_offsets", {begin, expected_}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data are aligned
  const auto length = static_cast<std::uint64_t>(text.size());
  file_.write(std::as_bytes(std::span(&length, 1)));
  file_.write(text);
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  file_.write(bytes);
  written_ += bytes.size();
}

void SafetensorsWriter::finish() {
  if (written_ != expected_) {
    throw Error(ErrorCode::kInvalidArgument, path_.native(),
                "expected " + std::to_string(expected_) + " bytes of tensors, found " +
                    std::to_string(written_));
  }
  file_.finish();
}

}  // namespace quire
