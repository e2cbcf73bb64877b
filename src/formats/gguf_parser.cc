// SPDX-License-Identifier: Apache-2.0
#include "formats/gguf_parser.h"

#include <quire/error.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "formats/block.h"
#include "formats/gguf_tensor_type.h"
#include "io/quote.h"
#include "io/utf8.h"

namespace quire {

static_assert(std::endian::native == std::endian::little,
              "values are read as they lie in the file");

namespace {

constexpr std::uint64_t kSmallestEntry = 8 + 1 + 4 + 1;   // key "x", a one-byte value
constexpr std::uint64_t kSmallestTensor = 8 + 4 + 4 + 8;  // no name, no dimensions
constexpr std::uint64_t kLongestKey = 65535;
constexpr std::uint64_t kLongestTensorName = 64;
constexpr std::uint32_t kMostDimensions = 4;
constexpr int kDeepestArray = 8;

// REQUIRES: alignment is a power of two; the result fits.
std::uint64_t align_up(std::uint64_t at, std::uint64_t alignment) {
  return (at + alignment - 1) & ~(alignment - 1);
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string_view as_text(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

}  // namespace

std::size_t scalar_bytes(GgufType type) {
  switch (type) {
    case GgufType::kUint8:
    case GgufType::kInt8:
    case GgufType::kBool:
      return 1;
    case GgufType::kUint16:
    case GgufType::kInt16:
      return 2;
    case GgufType::kUint32:
    case GgufType::kInt32:
    case GgufType::kFloat32:
      return 4;
    case GgufType::kUint64:
    case GgufType::kInt64:
    case GgufType::kFloat64:
      return 8;
    case GgufType::kString:
    case GgufType::kArray:
      return 0;
  }
  return 0;
}

void GgufParser::fail(std::string_view what, std::string_view problem) const {
  throw Error(ErrorCode::kCorrupt, file_.path().native(),
              std::string(what) + ": " + std::string(problem));
}

std::span<const std::byte> GgufParser::take(std::uint64_t count, std::string_view what) {
  if (count > left()) {
    fail(what, "expected " + number(count) + " bytes at byte " + number(at_) +
                   ", but the file has " + number(left()) + " left");
  }
  const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(count));
  at_ += taken.size();
  return taken;
}

std::string_view GgufParser::take_string(std::string_view what) {
  const auto length = take<std::uint64_t>(what);
  const std::string_view text = as_text(take(length, what));
  if (!is_utf8(text)) fail(what, "expected UTF-8, found " + quote(text));
  return text;
}

std::uint64_t GgufParser::take_count(std::uint64_t smallest, std::string_view what) {
  const auto count = take<std::uint64_t>(what);
  if (count > left() / smallest) {
    fail(what, "claims " + number(count) + ", but the " + number(left()) +
                   " bytes left have room for at most " + number(left() / smallest));
  }
  return count;
}

GgufDescription GgufParser::parse() {
  const std::uint64_t tensor_count = read_head();
  read_entries(take_count(kSmallestEntry, "metadata count"));
  read_alignment();
  if (tensor_count > left() / kSmallestTensor) {
    fail("tensor count", "claims " + number(tensor_count) + ", but the " + number(left()) +
                             " bytes left have room for at most " +
                             number(left() / kSmallestTensor));
  }
  place_tensors(read_tensors(tensor_count));
  return std::move(out_);
}

// Returns the tensor count.
std::uint64_t GgufParser::read_head() {
  const auto magic = take(sizeof kGgufMagic, "magic");
  if (std::memcmp(magic.data(), kGgufMagic, sizeof kGgufMagic) != 0) {
    fail("magic", "expected GGUF, found " + quote(as_text(magic)));
  }
  out_.version = take<std::uint32_t>("version");
  if (out_.version != 0 && (out_.version & 0xFFFF) == 0) {
    fail("version", "the file is big-endian; only little-endian files can be read");
  }
  if (out_.version != 2 && out_.version != 3) {
    fail("version", "expected 2 or 3, found " + number(out_.version));
  }
  return take<std::uint64_t>("tensor count");
}

void GgufParser::read_entries(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string which = "metadata entry " + number(i + 1) + " of " + number(count);
    const std::string_view key = take_string(which);
    if (key.empty()) fail(which, "the key is empty");
    if (key.size() > kLongestKey) fail(which, "the key has " + number(key.size()) + " bytes");
    const std::string what = label(key);
    out_.entries.push_back({key, read_value(read_type(what), what)});
  }
  std::ranges::sort(out_.entries, {}, &GgufEntry::key);
  const auto same = std::ranges::adjacent_find(out_.entries, {}, &GgufEntry::key);
  if (same != out_.entries.end()) fail(label(same->key), "stands twice in the metadata");
}

GgufType GgufParser::read_type(std::string_view what) {
  const auto type = take<std::uint32_t>(what);
  if (type > static_cast<std::uint32_t>(GgufType::kFloat64)) {
    fail(what, "expected a value type from 0 to 12, found " + number(type));
  }
  return static_cast<GgufType>(type);
}

GgufValue GgufParser::read_value(GgufType type, std::string_view what) {
  if (type == GgufType::kArray) return read_array(what, 1);
  if (type == GgufType::kString) {
    const std::string_view text = take_string(what);
    return {type, type, 1, std::as_bytes(std::span(text))};
  }
  const auto data = take(scalar_bytes(type), what);
  if (type == GgufType::kBool && data[0] > std::byte{1}) {
    fail(what, "expected a bool of 0 or 1, found " + number(load<std::uint8_t>(data.data())));
  }
  return {type, type, 1, data};
}

GgufValue GgufParser::read_array(std::string_view what, int depth) {
  if (depth > kDeepestArray) {
    fail(what, "arrays are nested deeper than " + std::to_string(kDeepestArray) + " levels");
  }
  const GgufType element = read_type(what);
  const std::size_t size = scalar_bytes(element);
  // A string takes at least its length, an array its type and count.
  const std::size_t smallest = size != 0 ? size : element == GgufType::kString ? 8 : 12;
  GgufValue array{GgufType::kArray, element, take_count(smallest, what), {}};
  const std::size_t begin = at_;
  if (size != 0 && element != GgufType::kBool) {
    take(array.count * size, what);
  } else {
    skip_elements(array, what, depth);
  }
  array.data = bytes_.subspan(begin, at_ - begin);
  return array;
}

void GgufParser::skip_elements(const GgufValue& array, std::string_view what, int depth) {
  for (std::uint64_t i = 0; i < array.count; ++i) {
    if (array.element == GgufType::kArray) {
      read_array(what, depth + 1);
    } else {
      read_value(array.element, what);
    }
  }
}

void GgufParser::read_alignment() {
  constexpr std::string_view kKey = "general.alignment";
  const auto entry = std::ranges::lower_bound(out_.entries, kKey, {}, &GgufEntry::key);
  if (entry == out_.entries.end() || entry->key != kKey) return;
  if (entry->value.type != GgufType::kUint32) {
    fail(kKey, "expected uint32, found " + std::string(to_string(entry->value.type)));
  }
  out_.alignment = load<std::uint32_t>(entry->value.data.data());
  if (!std::has_single_bit(out_.alignment)) {
    fail(kKey, "expected a power of two, found " + number(out_.alignment));
  }
}

std::vector<GgufParser::Tensor> GgufParser::read_tensors(std::uint64_t count) {
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string which = "tensor " + number(i + 1) + " of " + number(count);
    Tensor tensor;
    tensor.name = take_string(which);
    if (tensor.name.size() > kLongestTensorName) {
      fail(which, "its name has " + number(tensor.name.size()) + " bytes, more than the " +
                      number(kLongestTensorName) + " allowed");
    }
    const std::string what = label(tensor.name);
    tensor.shape = read_shape(what);
    tensor.type = take<std::uint32_t>(what);
    tensor.offset = take<std::uint64_t>(what);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<std::int64_t> GgufParser::read_shape(std::string_view what) {
  const auto dimensions = take<std::uint32_t>(what);
  if (dimensions > kMostDimensions) {
    fail(what, "expected at most " + number(kMostDimensions) + " dimensions, found " +
                   number(dimensions));
  }
  std::vector<std::int64_t> shape(dimensions);
  for (std::uint32_t i = dimensions; i-- > 0;) {
    const auto size = take<std::int64_t>(what);
    if (size <= 0) fail(what, "expected a positive dimension, found " + std::to_string(size));
    shape[i] = size;
  }
  return shape;
}

void GgufParser::place_tensors(std::vector<Tensor> tensors) {
  const std::uint64_t start = align_up(at_, out_.alignment);
  if (!tensors.empty() && start > bytes_.size()) {
    fail("tensor data", "begins at byte " + number(start) + " (general.alignment " +
                            number(out_.alignment) + "), but the file has " +
                            number(bytes_.size()) + " bytes");
  }
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].bytes = bytes_of(tensors[i]);
    if (tensors[i].offset != expected) fail_misplaced(std::span(tensors).first(i + 1), expected);
    const std::uint64_t end = expected + tensors[i].bytes;  // each is below 2^63
    if (end > bytes_.size() - start) {
      fail(label(tensors[i].name), "needs bytes " + number(expected) + " to " + number(end) +
                                       " of the tensor data, but the file holds " +
                                       number(bytes_.size() - start));
    }
    expected = align_up(end, out_.alignment);
  }
  for (Tensor& tensor : tensors) {
    const GgufTensorType& type = *find_gguf_tensor_type(tensor.type);
    if (type.block) {
      out_.tensors.add({std::move(tensor.name), *type.block, std::move(tensor.shape),
                        bytes_.subspan(start + tensor.offset, tensor.bytes)});
    } else {
      out_.tensors.add_other(std::move(tensor.name), type.name);
    }
  }
  out_.tensors.finish(file_.path().native());
}

std::uint64_t GgufParser::bytes_of(const Tensor& tensor) const {
  const GgufTensorType* type = find_gguf_tensor_type(tensor.type);
  if (type == nullptr) fail(label(tensor.name), "unknown tensor type " + number(tensor.type));
  if (!type->block && type->bytes == 0) {
    throw Error(
        ErrorCode::kUnsupported, file_.path().native(),
        label(tensor.name) + ": tensor type " + std::string(type->name) + " is not supported");
  }
  const std::optional<std::int64_t> bytes = type->byte_count(tensor.shape);
  if (!bytes) {
    fail(label(tensor.name), "a shape of " + to_string(tensor.shape) +
                                 " is not possible for type " + std::string(type->name));
  }
  return static_cast<std::uint64_t>(*bytes);
}

// About the last of `tensors`. A wrong alignment shows only in how the file's tensors lie together.
void GgufParser::fail_misplaced(std::span<const Tensor> tensors, std::uint64_t expected) const {
  constexpr std::size_t kMostShown = 3;
  std::string problem = "expected offset " + number(expected) + ", the end of what is before it " +
                        "rounded up to general.alignment (" + number(out_.alignment) + "); found " +
                        number(tensors.back().offset) + ". The file's tensors begin with";
  for (const Tensor& tensor : tensors.first(std::min(tensors.size(), kMostShown))) {
    problem += ' ' + label(tensor.name) + " at " + number(tensor.offset) + ',';
  }
  problem.back() = '.';
  fail(label(tensors.back().name), problem);
}

}  // namespace quire
