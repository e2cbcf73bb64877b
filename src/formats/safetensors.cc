// SPDX-License-Identifier: Apache-2.0
#include "formats/safetensors.h"

#include <quire/error.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>
#include <utility>

#include "formats/block.h"
#include "io/json.h"
#include "io/quote.h"

namespace quire {

static_assert(std::endian::native == std::endian::little, "elements are read as they lie in files");

namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit

struct SafetensorsType {
  std::string_view name;
  std::int64_t bits;
  std::optional<BlockType> block;
};

constexpr SafetensorsType kTypes[] = {
    {"F32", 32, BlockType::kF32},
    {"F16", 16, BlockType::kF16},
    {"BF16", 16, BlockType::kBF16},
    {"F64", 64, BlockType::kF64},
    {"BOOL", 8, {}},
    {"U8", 8, {}},
    {"I8", 8, {}},
    {"U16", 16, {}},
    {"I16", 16, {}},
    {"U32", 32, {}},
    {"I32", 32, {}},
    {"U64", 64, {}},
    {"I64", 64, {}},
    {"C64", 64, {}},
    {"F4", 4, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"F8_E5M2", 8, {}},
    {"F8_E4M3", 8, {}},
    {"F8_E8M0", 8, {}},
    {"F8_E4M3FNUZ", 8, {}},
    {"F8_E5M2FNUZ", 8, {}},
};

// The bytes of a tensor, or nothing when they overflow or do not end with a whole byte.
std::optional<std::int64_t> byte_count(const SafetensorsType& type,
                                       std::span<const std::int64_t> shape) {
  const std::optional<std::int64_t> count = element_count(shape);
  std::int64_t bits = 0;
  if (!count || __builtin_mul_overflow(*count, type.bits, &bits) || bits % 8 != 0) {
    return std::nullopt;
  }
  return bits / 8;
}

// An array of non-negative integers.
std::vector<std::int64_t> sizes(const JsonObject& entry, std::string_view key) {
  const Json& value = entry.at(key);
  if (!value.is_array())
    entry.fail(key, std::string("expected an array, found ") + value.type_name());
  std::vector<std::int64_t> out;
  out.reserve(value.size());
  for (const Json& item : value) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > INT64_MAX) {
      entry.fail(key, "expected integers from 0 to 2^63 - 1, found " + quote(item.dump()));
    }
    out.push_back(item.get<std::int64_t>());
  }
  return out;
}

const SafetensorsType& type_of(const JsonObject& entry) {
  const std::string& name = entry.string("dtype");
  const auto* type = std::ranges::find(kTypes, name, &SafetensorsType::name);
  if (type == std::end(kTypes)) entry.fail("dtype", "unknown type " + quote(name));
  return *type;
}

SafetensorsFile::Tensor read_entry(const std::string& name, const JsonObject& entry,
                                   std::span<const std::byte> data) {
  const SafetensorsType& type = type_of(entry);
  std::vector<std::int64_t> shape = sizes(entry, "shape");
  const std::vector<std::int64_t> offsets = sizes(entry, "data_offsets");
  if (offsets.size() != 2) {
    entry.fail("data_offsets", "expected 2 offsets, found " + std::to_string(offsets.size()));
  }
  const std::int64_t begin = offsets[0];
  const std::int64_t end = offsets[1];
  if (begin > end) {
    entry.fail("data_offsets", "the end " + std::to_string(end) + " lies before the begin " +
                                   std::to_string(begin));
  }
  const std::optional<std::int64_t> bytes = byte_count(type, shape);
  if (!bytes || *bytes != end - begin) {
    entry.fail("data_offsets",
               "expected " +
                   (bytes ? std::to_string(*bytes) + " bytes" : "a size that is possible") +
                   " for " + std::string(type.name) + ' ' + to_string(shape) + ", found " +
                   std::to_string(end - begin));
  }
  if (static_cast<std::uint64_t>(end) > data.size()) {
    entry.fail("data_offsets", "needs bytes up to " + std::to_string(end) +
                                   " of the tensor data, but the file holds " +
                                   std::to_string(data.size()));
  }
  return {name, type.name, type.block, std::move(shape),
          data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(*bytes))};
}

void check_metadata(const Json& value, const std::string& subject) {
  if (value.is_null()) return;
  const JsonObject metadata(value, subject, "__metadata__.");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      metadata.fail(label(key), std::string("expected a string, found ") + text.type_name());
    }
  }
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : file_(path) {
  check_layout(read_header());
}

void SafetensorsFile::fail(std::string_view what, std::string_view problem) const {
  throw Error(ErrorCode::kCorrupt, path().native(),
              std::string(what) + ": " + std::string(problem));
}

// Fills tensors_ and returns the tensor data.
std::span<const std::byte> SafetensorsFile::read_header() {
  const std::span<const std::byte> bytes = file_.bytes();
  if (bytes.size() < kLengthBytes) {
    fail("header length", "expected 8 bytes, found " + std::to_string(bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::uint64_t most = std::min(kLongestHeader, bytes.size() - kLengthBytes);
  if (length > most) {
    fail("header length", "expected at most " + std::to_string(most) + " bytes in a file of " +
                              std::to_string(bytes.size()) + ", found " + std::to_string(length));
  }
  const std::string_view header = file_.text().substr(kLengthBytes, length);
  if (!header.starts_with('{')) fail("header", "expected a JSON object that begins with {");

  const auto data = bytes.subspan(kLengthBytes + header.size());
  const std::string& subject = path().native();
  parse_json_members(header, subject + ": header", [&](const std::string& name, const Json& value) {
    if (name == "__metadata__") return check_metadata(value, subject);
    tensors_.push_back(read_entry(name, JsonObject(value, subject, label(name) + '.'), data));
  });
  return data;
}

// Sorts tensors_ by place: each must begin where the one before it ends, and the last end the file.
void SafetensorsFile::check_layout(std::span<const std::byte> data) {
  std::ranges::sort(tensors_, {}, [](const Tensor& tensor) {
    return std::tuple(tensor.data.data(), tensor.data.size(), std::string_view(tensor.name));
  });
  std::int64_t expected = 0;
  const Tensor* before = nullptr;
  for (const Tensor& tensor : tensors_) {
    const std::int64_t begin = tensor.data.data() - data.data();
    if (before != nullptr && before->name == tensor.name) {
      fail(label(tensor.name), "stands twice in the header");
    }
    if (begin < expected) {
      fail(label(tensor.name), "shares bytes with " + quote(before->name) + ": it begins at " +
                                   std::to_string(begin) + ", which is before " +
                                   std::to_string(expected));
    }
    if (begin > expected) {
      fail(label(tensor.name), "bytes " + std::to_string(expected) + " to " +
                                   std::to_string(begin) + " before it belong to no tensor");
    }
    expected = begin + static_cast<std::int64_t>(tensor.data.size());
    before = &tensor;
  }
  const std::size_t rest = data.size() - static_cast<std::size_t>(expected);
  if (rest != 0) fail("tensor data", std::to_string(rest) + " bytes follow the last tensor");
}

}  // namespace quire
