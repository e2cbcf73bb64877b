// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"

namespace quire::testing {

// A redis-server of the test's own, on a socket in a folder of its own, that keeps nothing on disk.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  std::string url() const { return "unix:" + socket(); }
  void signal(int number) const;
  void kill();
  void start();  // again

 private:
  std::string socket() const { return folder_.file("socket"); }

  const test::TemporaryFolder folder_;
  const std::vector<std::string> options_;
  pid_t id_ = 0;
};

}  // namespace quire::testing
