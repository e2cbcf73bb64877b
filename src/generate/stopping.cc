// SPDX-License-Identifier: Apache-2.0
#include "generate/stopping.h"

#include <quire/error.h>

#include <algorithm>
#include <utility>

namespace quire {

StopFinder::StopFinder(std::vector<std::string> stops) : stops_(std::move(stops)) {
  for (const std::string& stop : stops_) {
    if (stop.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "stop", "expected a text, found an empty string");
    }
  }
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string StopFinder::push(std::string_view text) {
  if (found()) return {};
  if (stops_.empty()) return std::string(text);
  for (const char byte : text) {
    held_.push_back(byte);
    const auto match = std::find_if(stops_.begin(), stops_.end(),
                                    [&](const std::string& stop) { return held_.ends_with(stop); });
    if (match != stops_.end()) {
      stop_ = *match;
      held_.resize(held_.size() - stop_.size());
      return std::exchange(held_, {});
    }
  }
  const std::size_t certain = held_.size() - undecided();
  std::string out = held_.substr(0, certain);
  held_.erase(0, certain);
  return out;
}

std::string StopFinder::finish() { return std::exchange(held_, {}); }

std::size_t StopFinder::undecided() const {
  for (std::size_t n = std::min(held_.size(), stops_.front().size() - 1); n > 0; --n) {
    const std::string_view tail = std::string_view(held_).substr(held_.size() - n);
    for (const std::string& stop : stops_) {
      if (n < stop.size() && std::string_view(stop).starts_with(tail)) return n;
    }
  }
  return 0;
}

}  // namespace quire
