// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

void handle_interrupts(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;  // no SA_RESTART: a waiting read must end
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace

InterruptFlag::InterruptFlag() { handle_interrupts(on_interrupt); }
InterruptFlag::~InterruptFlag() { handle_interrupts(SIG_DFL); }

bool InterruptFlag::take() {
  const bool was = interrupted != 0;
  interrupted = 0;
  return was;
}

std::optional<std::string> LineReader::next() {
  while (true) {
    const std::size_t newline = buffer_.find('\n');
    if (newline != std::string::npos) {
      std::string line = buffer_.substr(0, newline);
      buffer_.erase(0, newline + 1);
      return line;
    }
    if (ended_) {
      if (buffer_.empty()) return std::nullopt;
      return std::exchange(buffer_, {});
    }
    char bytes[4096];
    const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
    if (n > 0) {
      buffer_.append(bytes, static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EINTR) {
      buffer_.clear();
      return std::string();
    } else {
      ended_ = true;
    }
  }
}

}  // namespace cli
