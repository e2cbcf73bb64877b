// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <fcntl.h>
#include <quire/error.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cli {
namespace {

// argv and envp as C wants them; borrows the strings.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

std::string last_line_of(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return newline == std::string::npos ? text : text.substr(newline + 1);
}

// The end of what arrives until the other side closes, at most so many bytes.
std::string drain(int fd, std::size_t kept) {
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kept) text.erase(0, text.size() - kept);
  }
}

// As a shell would see it.
int status_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command,
                       const std::vector<std::string>& variables, bool show) {
  using quire::Error;
  using quire::ErrorCode;
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = variables;  // the first of equal names counts
  for (char** e = environ; *e; ++e) environment.emplace_back(*e);

  int pipe_ends[2] = {-1, -1};
  if (!show && pipe2(pipe_ends, O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kIo, command[0], std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!show) posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);

  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, arguments[0].c_str(), &actions, nullptr,
                                   pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (!show) close(pipe_ends[1]);
  ChildOutcome outcome;
  if (!show) {
    if (failure == 0) outcome.last_line = last_line_of(drain(pipe_ends[0], 4096));
    close(pipe_ends[0]);
  }
  if (failure != 0) {
    throw Error(failure == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, command[0],
                std::strerror(failure));
  }
  outcome.status = status_of(pid);
  return outcome;
}

std::optional<std::string> output_of(const std::vector<std::string>& command) {
  std::vector<std::string> arguments = command;
  int pipe_ends[2] = {-1, -1};
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  pid_t pid = 0;
  const int failure = posix_spawnp(&pid, arguments[0].c_str(), &actions, nullptr,
                                   pointers(arguments).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::optional<std::string> output;
  if (failure == 0) {
    output = drain(pipe_ends[0], std::size_t{1} << 20);
    if (status_of(pid) != 0) output.reset();
  }
  close(pipe_ends[0]);
  return output;
}

}  // namespace cli
