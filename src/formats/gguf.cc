// SPDX-License-Identifier: Apache-2.0
#include "formats/gguf.h"

#include <quire/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>

#include "formats/gguf_parser.h"
#include "io/file_descriptor.h"
#include "io/quote.h"

namespace quire {

namespace {

std::string describe(const GgufValue& value) {
  std::string text(to_string(value.type));
  if (value.type == GgufType::kArray) {
    text += " of " + std::to_string(value.count) + ' ' + std::string(to_string(value.element));
  }
  return text;
}

// The number at `at`, or nothing when the type is no number.
std::optional<double> decode_number(GgufType type, const std::byte* at) {
  std::int64_t integer = 0;
  if (type == GgufType::kFloat32) return load<float>(at);
  if (type == GgufType::kFloat64) return load<double>(at);
  if (type == GgufType::kUint64) return static_cast<double>(load<std::uint64_t>(at));
  if (decode_integer(type, at, integer)) return static_cast<double>(integer);
  return std::nullopt;
}

std::string_view as_text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace

std::string_view to_string(GgufType type) {
  switch (type) {
    case GgufType::kUint8:
      return "uint8";
    case GgufType::kInt8:
      return "int8";
    case GgufType::kUint16:
      return "uint16";
    case GgufType::kInt16:
      return "int16";
    case GgufType::kUint32:
      return "uint32";
    case GgufType::kInt32:
      return "int32";
    case GgufType::kFloat32:
      return "float32";
    case GgufType::kBool:
      return "bool";
    case GgufType::kString:
      return "string";
    case GgufType::kArray:
      return "array";
    case GgufType::kUint64:
      return "uint64";
    case GgufType::kInt64:
      return "int64";
    case GgufType::kFloat64:
      return "float64";
  }
  return "unknown";
}

bool decode_integer(GgufType type, const std::byte* at, std::int64_t& out) {
  switch (type) {
    case GgufType::kUint8:
      out = load<std::uint8_t>(at);
      return true;
    case GgufType::kInt8:
      out = load<std::int8_t>(at);
      return true;
    case GgufType::kUint16:
      out = load<std::uint16_t>(at);
      return true;
    case GgufType::kInt16:
      out = load<std::int16_t>(at);
      return true;
    case GgufType::kUint32:
      out = load<std::uint32_t>(at);
      return true;
    case GgufType::kInt32:
      out = load<std::int32_t>(at);
      return true;
    case GgufType::kUint64:
    case GgufType::kInt64:
      out = load<std::int64_t>(at);
      return type == GgufType::kInt64 || out >= 0;
    default:
      return false;
  }
}

GgufFile::GgufFile(const std::filesystem::path& path) : file_(path) {
  GgufDescription description = GgufParser(file_).parse();
  version_ = description.version;
  alignment_ = description.alignment;
  entries_ = std::move(description.entries);
  tensors_ = std::move(description.tensors);
}

bool GgufFile::has_magic(const std::filesystem::path& path) {
  const FileDescriptor file(path);
  char magic[4] = {};
  const ssize_t got = ::pread(file.get(), magic, sizeof magic, 0);
  if (got < 0) throw_system_error(path, errno, "read");
  return got == sizeof magic && std::memcmp(magic, kGgufMagic, sizeof magic) == 0;
}

void GgufFile::fail(std::string_view key, std::string_view problem) const {
  throw Error(ErrorCode::kCorrupt, path().native(), std::string(key) + ": " + std::string(problem));
}

const GgufValue* GgufFile::find(std::string_view key) const {
  const auto entry = std::ranges::lower_bound(entries_, key, {}, &GgufEntry::key);
  return entry != entries_.end() && entry->key == key ? &entry->value : nullptr;
}

const GgufValue& GgufFile::at(std::string_view key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) fail(key, "is missing");
  return *value;
}

std::int64_t GgufFile::integer(std::string_view key) const {
  const GgufValue& value = at(key);
  std::int64_t integer = 0;
  if (!decode_integer(value.type, value.data.data(), integer)) {
    fail(key, value.type == GgufType::kUint64 ? "expected an integer below 2^63, found a larger one"
                                              : "expected an integer, found " + describe(value));
  }
  return integer;
}

double GgufFile::number(std::string_view key) const {
  const GgufValue& value = at(key);
  const std::optional<double> number = decode_number(value.type, value.data.data());
  if (!number) fail(key, "expected a number, found " + describe(value));
  if (!std::isfinite(*number))
    fail(key, "expected a finite number, found " + std::to_string(*number));
  return *number;
}

bool GgufFile::boolean(std::string_view key) const {
  const GgufValue& value = at(key);
  if (value.type != GgufType::kBool) fail(key, "expected a bool, found " + describe(value));
  return value.data[0] != std::byte{0};
}

std::string_view GgufFile::string(std::string_view key) const {
  const GgufValue& value = at(key);
  if (value.type != GgufType::kString) fail(key, "expected a string, found " + describe(value));
  return as_text(value.data);
}

std::int64_t GgufFile::integer_or(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

double GgufFile::number_or(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

bool GgufFile::boolean_or(std::string_view key, bool fallback) const {
  return has(key) ? boolean(key) : fallback;
}

std::string_view GgufFile::string_or(std::string_view key, std::string_view fallback) const {
  return has(key) ? string(key) : fallback;
}

const GgufValue& GgufFile::array(std::string_view key, std::string_view expected) const {
  const GgufValue& value = at(key);
  if (value.type != GgufType::kArray) {
    fail(key, "expected an array of " + std::string(expected) + ", found " + describe(value));
  }
  return value;
}

std::vector<std::string_view> GgufFile::strings(std::string_view key) const {
  const GgufValue& value = array(key, "strings");
  if (value.element != GgufType::kString) {
    fail(key, "expected an array of strings, found " + describe(value));
  }
  std::vector<std::string_view> out;
  out.reserve(value.count);  // each has eight bytes in the file
  const std::byte* at = value.data.data();
  for (std::uint64_t i = 0; i < value.count; ++i) {
    const auto length = static_cast<std::size_t>(load<std::uint64_t>(at));
    at += sizeof(std::uint64_t);
    out.push_back(as_text({at, length}));
    at += length;
  }
  return out;
}

std::vector<std::int64_t> GgufFile::integers(std::string_view key) const {
  const GgufValue& value = array(key, "integers");
  const std::size_t size = scalar_bytes(value.element);
  std::vector<std::int64_t> out;
  std::int64_t integer = 0;
  for (std::size_t at = 0; at < value.data.size() && size != 0; at += size) {
    if (!decode_integer(value.element, value.data.data() + at, integer)) break;
    out.push_back(integer);
  }
  if (out.size() != value.count)
    fail(key, "expected an array of integers, found " + describe(value));
  return out;
}

std::vector<float> GgufFile::floats(std::string_view key) const {
  const GgufValue& value = array(key, "float32");
  if (value.element != GgufType::kFloat32) {
    fail(key, "expected an array of float32, found " + describe(value));
  }
  std::vector<float> out(value.count);
  if (!out.empty()) std::memcpy(out.data(), value.data.data(), value.data.size());
  const auto bad = std::ranges::find_if_not(out, [](float x) { return std::isfinite(x); });
  if (bad != out.end()) {
    fail(key, "expected finite numbers, found " + std::to_string(*bad) + " at " +
                  std::to_string(bad - out.begin()));
  }
  return out;
}

}  // namespace quire
