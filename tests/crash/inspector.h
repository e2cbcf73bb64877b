// SPDX-License-Identifier: Apache-2.0
// Looks at what killed writers have left in a folder.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/crash/caches.h"
#include "tests/crash/writer.h"

namespace quire::crash {

struct Counts {
  std::int64_t answers = 0;  // reported stored
  std::int64_t pages = 0;    // likewise: texts of which all pages are
  std::int64_t snapshots = 0;
  std::int64_t lost = 0;        // of these, not there
  std::int64_t wrong = 0;       // answers that are not those of a generator without caches
  std::int64_t refused = 0;     // files that did not open or did not pass their checks
  std::int64_t unfinished = 0;  // snapshot files that were never moved to their place

  std::int64_t reported() const { return answers + pages + snapshots; }
  bool good() const { return lost + wrong + refused == 0 && reported() > 0; }
};

class Inspector {
 public:
  Inspector(std::filesystem::path folder, std::shared_ptr<const Model> model);

  // After the death of a writer that began with question `first`. Faults go to standard error.
  void inspect(Number first, std::span<const Report> reports);

  // Everything that was ever reported, once more.
  void inspect_all();

  const Counts& counts() const { return counts_; }

 private:
  void fault(std::int64_t& count, const std::string& what);
  void check_caches(std::span<const Report> reports, Number unreported);
  void check_answer(Generator& generator, Number number, bool reported);
  void check_pages(Generator& generator, Number number);
  void check_snapshots(Number unreported);
  const TokenIds& plain_answer(const std::string& prompt);

  const std::filesystem::path folder_;
  const std::shared_ptr<const Model> model_;
  Generator plain_;  // without caches
  std::map<std::string, TokenIds> plain_answers_;
  std::vector<Report> reports_;
  std::map<std::filesystem::path, Number> snapshots_;  // the latest of each file
  Counts counts_;
};

}  // namespace quire::crash
