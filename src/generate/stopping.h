// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// Finds the first stop string in a text that arrives in pieces, and holds back what may still turn
// out to begin one.
//
// The stop string that is complete first wins; of several complete at the same byte, the one that
// began first. So the outcome does not depend on how the text is cut into pieces.
//
// Thread-safety: one text, one thread.
class StopFinder {
 public:
  // Throws Error kInvalidArgument for an empty stop string.
  explicit StopFinder(std::vector<std::string> stops);

  // Adds text and returns what became certain to be no part of a stop string. After found(), the
  // text ends before the stop string and nothing more is taken.
  std::string push(std::string_view text);

  // The text has ended: what was held back is certain now.
  std::string finish();

  bool found() const { return !stop_.empty(); }

  // The stop string found; empty until then.
  const std::string& stop() const { return stop_; }

 private:
  // Bytes at the end of held_ that begin a stop string, at most.
  std::size_t undecided() const;

  std::vector<std::string> stops_;  // longest first
  std::string held_;
  std::string stop_;
};

}  // namespace quire
