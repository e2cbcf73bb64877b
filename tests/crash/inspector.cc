// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/inspector.h"

#include <quire/error.h>
#include <quire/snapshot.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "io/sqlite.h"

namespace quire::crash {
namespace {

namespace fs = std::filesystem;

constexpr const char* kContinuation = " and so on";

// The number after the last one that was reported of a kind, or `first`.
Number next(std::span<const Report> reports, Report::Kind kind, Number first) {
  for (const Report& report : reports) {
    if (report.kind == kind) first = report.number + 1;
  }
  return first;
}

}  // namespace

Inspector::Inspector(fs::path folder, std::shared_ptr<const Model> model)
    : folder_(std::move(folder)),
      model_(std::move(model)),
      plain_(model_, {.threads = 1, .prefix_cache_bytes = 0, .prompt_cache_bytes = 0}) {}

void Inspector::fault(std::int64_t& count, const std::string& what) {
  ++count;
  std::cerr << "crash: " << what << '\n';
}

const TokenIds& Inspector::plain_answer(const std::string& prompt) {
  const auto [entry, is_new] = plain_answers_.try_emplace(prompt);
  if (is_new) entry->second = plain_.generate(request_for(prompt)).ids;
  return entry->second;
}

void Inspector::inspect(Number first, std::span<const Report> reports) {
  for (const Report& report : reports) {
    switch (report.kind) {
      case Report::Kind::kAnswer:
        ++counts_.answers;
        break;
      case Report::Kind::kPages:
        ++counts_.pages;
        break;
      case Report::Kind::kSnapshot:
        ++counts_.snapshots;
        snapshots_[snapshot_file(folder_, report.number)] = report.number;
        break;
    }
  }
  reports_.insert(reports_.end(), reports.begin(), reports.end());
  check_caches(reports, next(reports, Report::Kind::kPages, first));
  Number snapshot = next(reports, Report::Kind::kSnapshot, first);
  while (!has_snapshot(snapshot)) ++snapshot;
  check_snapshots(snapshot);
}

void Inspector::inspect_all() {
  if (!reports_.empty()) check_caches(reports_, reports_.back().number);
  counts_.unfinished = std::ranges::count_if(
      fs::directory_iterator(folder_),
      [](const auto& entry) { return entry.path().filename().native().starts_with('.'); });
}

void Inspector::check_caches(std::span<const Report> reports, Number unreported) {
  try {
    Caches caches(folder_, model_);
    caches.answers.verify();
    const std::int64_t damages =
        Sqlite(pages_file(folder_), 1000)
            .integer("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'");
    if (damages != 0) fault(counts_.refused, "the file of pages is damaged");
    for (const Report& report : reports) {
      if (report.kind == Report::Kind::kAnswer) {
        check_answer(caches.generator, report.number, true);
      } else if (report.kind == Report::Kind::kPages) {
        check_pages(caches.generator, report.number);
      }
    }
    check_answer(caches.generator, unreported, false);
    const TierStats disk = caches.prefixes.stats().tiers.at(0);
    if (disk.corrupt_blocks + disk.failures != 0) fault(counts_.refused, "pages are damaged");
  } catch (const Error& error) {
    fault(counts_.refused, error.what());
  }
}

void Inspector::check_answer(Generator& generator, Number number, bool reported) {
  Request request = request_for(question(number));
  request.one_shot = true;
  request.reuse = AnswerReuse{};
  const Result result = generator.generate(request);
  if (reported && result.cache.source != AnswerSource::kExact) {
    fault(counts_.lost, "answer " + std::to_string(number) + " is not there");
  }
  if (result.ids != plain_answer(*request.prompt)) {
    fault(counts_.wrong, "answer " + std::to_string(number) + " is wrong");
  }
}

void Inspector::check_pages(Generator& generator, Number number) {
  Request request = request_for(question(number));
  request.one_shot = true;
  const Result result = generator.generate(request);
  if (result.cache.reused.total() != result.usage.prompt_tokens - 1) {
    fault(counts_.lost, "of text " + std::to_string(number) + " only " +
                            std::to_string(result.cache.reused.total()) + " tokens are there");
  }
  if (result.ids != plain_answer(*request.prompt)) {
    fault(counts_.wrong, "text " + std::to_string(number) + " is answered wrong");
  }
}

void Inspector::check_snapshots(Number unreported) {
  const fs::path latest = snapshot_file(folder_, unreported);
  if (fs::exists(latest)) snapshots_.try_emplace(latest, unreported);
  for (auto& [file, number] : snapshots_) {
    try {
      const Snapshot snapshot = Snapshot::load(file, *model_);
      // The writer may have died after it had replaced the file and before it could say so.
      if (file == latest && snapshot.text() == question(unreported)) number = unreported;
      if (snapshot.text() != question(number)) {
        fault(counts_.lost, "snapshot " + std::to_string(number) + " is not there");
        continue;
      }
      Request request = request_for(kContinuation);
      request.snapshot = snapshot;
      const Result result = plain_.generate(request);
      if (result.ids != plain_answer(question(number) + kContinuation) ||
          result.cache.reused.snapshot == 0) {
        fault(counts_.wrong, "snapshot " + std::to_string(number) + " is continued wrong");
      }
    } catch (const Error& error) {
      fault(error.code() == ErrorCode::kNotFound ? counts_.lost : counts_.refused, error.what());
    }
  }
}

}  // namespace quire::crash
