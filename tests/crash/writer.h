// SPDX-License-Identifier: Apache-2.0
// A process that generates and stores until it is killed, and says what it has stored.
//
// Thread-safety: one thread at a time.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/crash/caches.h"

namespace quire::crash {

// What a writer says once it holds for good.
struct Report {
  enum class Kind { kAnswer, kPages, kSnapshot };
  Kind kind;
  Number number;
};

// The writer's own work: questions from `first` on, one line of standard output for each report.
// Returns only by an exception.
[[noreturn]] void write_until_killed(const std::filesystem::path& folder, Number first);

// This program, run again as a writer.
class Writer {
 public:
  Writer(const std::filesystem::path& folder, Number first);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Waits until its files are open. Throws std::runtime_error when it ended before.
  void wait_until_open();

  // Returns what it has reported. Throws std::runtime_error when it had ended by itself.
  std::vector<Report> kill();

 private:
  bool read_more();  // false: it has ended

  pid_t id_ = -1;
  int out_ = -1;
  std::string said_;
};

}  // namespace quire::crash
