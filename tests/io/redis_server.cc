// SPDX-License-Identifier: Apache-2.0
#include "tests/io/redis_server.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "io/redis_connection.h"

namespace quire::testing {

RedisServer::RedisServer(std::vector<std::string> options) : options_(std::move(options)) {
  start();
}

RedisServer::~RedisServer() { kill(); }

void RedisServer::signal(int number) const { ::kill(id_, number); }

void RedisServer::kill() {
  if (id_ == 0) return;
  signal(SIGKILL);
  waitpid(id_, nullptr, 0);
  id_ = 0;
}

void RedisServer::start() {
  std::filesystem::remove(socket());
  std::vector<std::string> words = {"redis-server",     "--port", "0", "--unixsocket",
                                    socket(),           "--save", "",  "--logfile",
                                    folder_.file("log")};
  words.insert(words.end(), options_.begin(), options_.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  id_ = fork();
  if (id_ == 0) {
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  for (int tries = 0; tries < 500; ++tries) {
    if (std::filesystem::exists(socket())) return;
    if (waitpid(id_, nullptr, WNOHANG) == id_) {
      id_ = 0;
      throw std::runtime_error("redis-server did not start: is the package redis-server there?");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("redis-server made no socket");
}

}  // namespace quire::testing
