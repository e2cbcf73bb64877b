// SPDX-License-Identifier: Apache-2.0
#include "formats/tensor_table.h"

#include <quire/error.h>

#include <algorithm>
#include <numeric>

#include "io/quote.h"

namespace quire {

namespace {

[[noreturn]] void duplicate(std::string_view subject, std::string_view name) {
  throw Error(ErrorCode::kCorrupt, subject, "two tensors are named " + quote(name));
}

}  // namespace

void TensorTable::finish(std::string_view subject) {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  const auto name_of = [this](std::uint32_t i) -> std::string_view { return tensors_[i].name; };
  std::ranges::sort(by_name_, {}, name_of);
  std::ranges::sort(others_, {}, &Other::name);

  const auto same = std::ranges::adjacent_find(by_name_, {}, name_of);
  if (same != by_name_.end()) duplicate(subject, name_of(*same));
  const auto same_other = std::ranges::adjacent_find(others_, {}, &Other::name);
  if (same_other != others_.end()) duplicate(subject, same_other->name);
  for (const Other& other : others_) {
    if (std::ranges::binary_search(by_name_, std::string_view(other.name), {}, name_of)) {
      duplicate(subject, other.name);
    }
  }
}

const TensorInfo* TensorTable::find(std::string_view name, std::string_view subject) const {
  const auto at = std::ranges::lower_bound(
      by_name_, name, {}, [this](std::uint32_t i) -> std::string_view { return tensors_[i].name; });
  if (at != by_name_.end() && tensors_[*at].name == name) return &tensors_[*at];

  const auto other = std::ranges::lower_bound(
      others_, name, {}, [](const Other& entry) -> std::string_view { return entry.name; });
  if (other != others_.end() && other->name == name) {
    throw Error(ErrorCode::kUnsupported, subject,
                "tensor " + quote(name) + ": expected weights, found type " + other->type);
  }
  return nullptr;
}

}  // namespace quire
