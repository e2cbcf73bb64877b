// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/run_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace quire::test {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

// Runs the program with the files that `actions` opens and a process to wait for.
pid_t start(const std::vector<std::string>& arguments, const std::vector<std::string>& variables,
            posix_spawn_file_actions_t& actions) {
  std::vector<std::string> command = {QUIRE_PROGRAM};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = variables;
  for (char** e = environ; *e; ++e) environment.emplace_back(*e);
  pid_t pid = 0;
  const int failure = posix_spawn(&pid, QUIRE_PROGRAM, &actions, nullptr, pointers(command).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::runtime_error("cannot start " QUIRE_PROGRAM);
  return pid;
}

int status_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProgramOutcome run_program(const std::vector<std::string>& arguments, const std::string& input,
                           const std::vector<std::string>& variables) {
  const TemporaryFolder folder;
  const fs::path in = folder.path() / "in";
  const fs::path out = folder.path() / "out";
  const fs::path err = folder.path() / "err";
  write_file(in, input);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  const int status = status_of(start(arguments, variables, actions));
  return {status, read_file(out), read_file(err)};
}

std::optional<ProgramOutcome> run_in_terminal(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out";
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return std::nullopt;
  if (grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
    throw std::runtime_error("cannot use a terminal");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, ptsname(terminal), O_WRONLY | O_NOCTTY, 0);
  const pid_t pid = start(arguments, {}, actions);
  std::string err;
  char bytes[4096];
  // Reading fails once the program, which alone has the other side, is gone.
  for (ssize_t n = 0; (n = read(terminal, bytes, sizeof bytes)) > 0;) {
    err.append(bytes, static_cast<std::size_t>(n));
  }
  close(terminal);
  const int status = status_of(pid);
  return ProgramOutcome{status, read_file(out), err};
}

std::vector<nlohmann::json> run_lines(std::vector<std::string> arguments,
                                      const std::vector<nlohmann::json>& lines) {
  std::string input;
  for (const nlohmann::json& line : lines) input += line.dump() + "\n";
  arguments.push_back("--jsonl");
  const ProgramOutcome outcome = run_program(arguments, input);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  std::vector<nlohmann::json> results;
  std::istringstream out(outcome.out);
  for (std::string line; std::getline(out, line);) results.push_back(nlohmann::json::parse(line));
  EXPECT_EQ(results.size(), lines.size());
  results.resize(lines.size());
  return results;
}

void write_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const nlohmann::json& smollm2_reference() {
  static const nlohmann::json reference =
      nlohmann::json::parse(read_file(QUIRE_TEST_DATA "/smollm2/smollm2.json"));
  return reference;
}

}  // namespace quire::test
