// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cli {

struct SharedOptions;

// How far something is that takes its time, on stderr: in a terminal one line that is written over,
// with --verbose elsewhere a line each quarter, otherwise nothing.
class Progress {
 public:
  Progress(const SharedOptions& options, std::string what);

  // From 0 to 1, which ends the line.
  void operator()(double fraction);

 private:
  std::string what_;
  bool wanted_;
  bool terminal_;
  int last_ = -1;
};

}  // namespace cli
