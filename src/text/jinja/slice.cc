// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "text/jinja/bytes.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

struct Bounds {
  std::int64_t start;
  std::int64_t stop;
  std::int64_t step;
  std::int64_t count;
};

std::int64_t part(const Value& value, std::int64_t absent) {
  if (value.is_none()) return absent;
  const auto index = as_index(value);
  if (!index) type_error("slice indices must be integers or None");
  return *index;
}

// Where a bound falls in a sequence of `size`: from the end if negative, and within [low, high].
std::int64_t place(std::int64_t bound, std::int64_t size, std::int64_t low, std::int64_t high) {
  if (bound < 0) bound = std::max(bound, -size - 1) + size;
  return std::clamp(bound, low, high);
}

Bounds resolve(std::int64_t size, const Value& start, const Value& stop, const Value& step) {
  Bounds b{};
  b.step = std::max<std::int64_t>(part(step, 1), -INT64_MAX);
  if (b.step == 0) value_error("slice step cannot be zero");
  const bool forward = b.step > 0;
  const std::int64_t low = forward ? 0 : -1;
  const std::int64_t high = forward ? size : size - 1;
  b.start = start.is_none() ? (forward ? low : high) : place(part(start, 0), size, low, high);
  b.stop = stop.is_none() ? (forward ? high : low) : place(part(stop, 0), size, low, high);
  const std::int64_t span = forward ? b.stop - b.start : b.start - b.stop;
  const std::int64_t stride = forward ? b.step : -b.step;
  b.count = span > 0 ? (span - 1) / stride + 1 : 0;
  return b;
}

Value slice_text(const Value& value, const Bounds& b) {
  const TextObject& text = value.as_text();
  if (b.count == 0) return text_like(value, {});
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  if (b.step == 1) {
    if (text.ascii()) return text_like(value, text.bytes.substr(at(b.start), at(b.count)));
    charge_steps(static_cast<std::int64_t>(text.bytes.size() / 64));
    const std::size_t begin = byte_offset(text.bytes, at(b.start));
    const std::string_view rest = std::string_view(text.bytes).substr(begin);
    return text_like(value, std::string(rest.substr(0, byte_offset(rest, at(b.count)))));
  }
  std::u32string points;
  for (std::size_t i = 0; i < text.bytes.size();) points += next_code_point(text.bytes, i);
  charge_steps(static_cast<std::int64_t>(points.size() / 8));
  std::string out;
  for (std::int64_t i = 0; i < b.count; ++i) append_utf8(out, points[at(b.start + i * b.step)]);
  return text_like(value, std::move(out));
}

__extension__ using Wide = __int128;

bool fits(Wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

// Python's ranges have bounds of any size. Those beyond 64 bits matter to two items or more only.
Value slice_range(const RangeObject& range, const Bounds& b) {
  const Wide start = range.start + b.start * Wide{range.step};
  const Wide stop = range.start + b.stop * Wide{range.step};
  const Wide step = range.step * Wide{b.step};
  auto part_of = std::make_shared<RangeObject>();
  if (fits(start) && fits(stop) && fits(step)) {
    part_of->start = static_cast<std::int64_t>(start);
    part_of->stop = static_cast<std::int64_t>(stop);
    part_of->step = static_cast<std::int64_t>(step);
  } else if (b.count > 1) {
    value_error("range too big: a bound or the step of its slice is beyond 64 bits");
  } else {
    part_of->start = b.count == 1 ? static_cast<std::int64_t>(start) : 0;
    part_of->step = range.step > 0 ? 1 : -1;
    part_of->stop = part_of->start + b.count * part_of->step;
  }
  return {Kind::kRange, std::move(part_of)};
}

}  // namespace

Value slice(const Value& value, const Value& start, const Value& stop, const Value& step) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.is_text() || value.is_sequence()) {
    const Bounds b = resolve(*length_of(value), start, stop, step);
    if (value.is_text()) return slice_text(value, b);
    List items;
    items.reserve(static_cast<std::size_t>(b.count));
    for (std::int64_t i = 0; i < b.count; ++i) {
      items.push_back(value.as_list()[static_cast<std::size_t>(b.start + i * b.step)]);
    }
    return value.kind() == Kind::kList ? Value::list(std::move(items))
                                       : Value::tuple(std::move(items));
  }
  if (value.kind() == Kind::kBytes) {
    const Bounds b = resolve(*length_of(value), start, stop, step);
    std::string bytes;
    for (std::int64_t i = 0; i < b.count; ++i) {
      bytes.push_back(bytes_of(value)[static_cast<std::size_t>(b.start + i * b.step)]);
    }
    return bytes_value(std::move(bytes));
  }
  if (value.kind() == Kind::kRange) {
    const auto* range = value.get<RangeObject>();
    const Bounds b = resolve(range->size(), start, stop, step);
    return slice_range(*range, b);
  }
  if (value.is_dict()) type_error("unhashable type: 'slice'");
  type_error("'" + type_name(value) + "' object is not subscriptable");
}

}  // namespace quire::jinja
