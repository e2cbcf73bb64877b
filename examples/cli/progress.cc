// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "program.h"

namespace cli {

Progress::Progress(const SharedOptions& options, std::string what)
    : what_(std::move(what)), wanted_(talkative(options)), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::operator()(double fraction) {
  const int percent = static_cast<int>(fraction * 100);
  if (!wanted_ || percent == last_ || (!terminal_ && percent / 25 == last_ / 25 && last_ >= 0)) {
    return;
  }
  last_ = percent;
  std::cerr << (terminal_ ? "\r" : "") << what_ << " " << percent << " %"
            << (terminal_ && percent < 100 ? "" : "\n") << std::flush;
}

}  // namespace cli
