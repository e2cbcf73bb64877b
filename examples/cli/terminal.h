// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace cli {

// While one lives, Ctrl-C sets a flag in place of ending the program.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  // True once for each interrupt, or for several that came together.
  bool take();
};

// Reads lines from stdin with read(2), which an interrupt ends; streams would be left broken.
class LineReader {
 public:
  // Without the newline; empty after an interrupt; nothing at the end of input.
  std::optional<std::string> next();

 private:
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace cli
