// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "api_keys.h"
#include "engine.h"

namespace server {

struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                         // 0: any free one
  std::size_t max_body_bytes = 16u << 20;  // a longer one: 413
  ApiKeys keys = {};
  std::chrono::milliseconds grace{5000};  // for requests that run when the server is stopped
  std::function<void(const std::string& line)> log = {};  // a line for each reply
};

// HTTP around an Engine. A connection has a thread to itself, since a request's callbacks run on
// the thread that asked; there are enough for all requests that an engine lets run or wait, and
// some for those that are over at once. What a client sends is bounded in bytes, and by a time-out
// where it stalls; in front of the open internet it still wants a proxy, for TLS and for slow
// senders.
//
// A client that goes away while its answer streams ends the request.
//
// Thread-safety: the constructor starts the threads; stop() once, from any of one's own.
class HttpServer {
 public:
  // Listens from here on. Throws quire::Error kIo if it cannot. `engine` must outlive it.
  HttpServer(Engine& engine, HttpOptions options);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::string url() const;

  // No new connections; requests that run have `grace` to end, then are cancelled.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace server
