// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/writer.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;

namespace quire::crash {
namespace {

constexpr std::string_view kOpen = "open\n";
constexpr std::pair<std::string_view, Report::Kind> kNames[] = {
    {"answer", Report::Kind::kAnswer},
    {"pages", Report::Kind::kPages},
    {"snapshot", Report::Kind::kSnapshot},
};

void say(const std::string& line) {
  if (::write(STDOUT_FILENO, line.data(), line.size()) != std::ssize(line)) {
    throw std::runtime_error("nobody listens");
  }
}

void say(Report::Kind kind, Number number) {
  for (const auto& [name, named] : kNames) {
    if (named == kind) say(std::string(name) + " " + std::to_string(number) + "\n");
  }
}

// Without this, pages that the tier let go would count as stored.
void require_all_kept(const PrefixCacheStats& stats) {
  const TierStats& disk = stats.tiers.at(0);
  if (stats.dropped_blocks + disk.failures + disk.corrupt_blocks + disk.evicted_blocks > 0) {
    throw std::runtime_error("the disk tier has not kept everything");
  }
}

}  // namespace

void write_until_killed(const std::filesystem::path& folder, Number first) {
  Caches caches(folder, load_model());
  say(std::string(kOpen));
  for (Number number = first;; ++number) {
    Request request = request_for(question(number));
    request.reuse = AnswerReuse{};
    const Result result = caches.generator.generate(request);
    if (result.finish_reason == FinishReason::kEos) say(Report::Kind::kAnswer, number);
    caches.prefixes.flush();
    require_all_kept(caches.prefixes.stats());
    say(Report::Kind::kPages, number);
    if (has_snapshot(number)) {
      caches.generator.prefill(request).save(snapshot_file(folder, number));
      say(Report::Kind::kSnapshot, number);
    }
  }
}

Writer::Writer(const std::filesystem::path& folder, Number first) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  out_ = ends[0];
  std::vector<std::string> words = {"quire_crash", "--write", folder.string(),
                                    std::to_string(first)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int error =
      ::posix_spawn(&id_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (error != 0) throw std::system_error(error, std::generic_category(), "posix_spawn");
}

Writer::~Writer() {
  if (id_ > 0) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  ::close(out_);
}

bool Writer::read_more() {
  char bytes[4096];
  const ssize_t size = ::read(out_, bytes, sizeof bytes);
  if (size > 0) said_.append(bytes, static_cast<std::size_t>(size));
  return size > 0;
}

void Writer::wait_until_open() {
  while (said_.size() < kOpen.size()) {
    if (!read_more()) throw std::runtime_error("the writer ended before it had opened its files");
  }
}

std::vector<Report> Writer::kill() {
  ::kill(id_, SIGKILL);
  int status = 0;
  ::waitpid(std::exchange(id_, -1), &status, 0);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
    throw std::runtime_error("the writer ended by itself");
  }
  while (read_more()) {
  }
  std::vector<Report> reports;
  std::istringstream words(said_);
  std::string name;
  Number number = 0;
  words >> name;  // "open", or nothing
  while (words >> name >> number) {
    for (const auto& [known, kind] : kNames) {
      if (known == name) reports.push_back({kind, number});
    }
  }
  return reports;
}

}  // namespace quire::crash
