// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// One request and its reply, free of the HTTP library: http_server.cc alone knows that one.
namespace server {

struct Call {
  std::string method = {};
  std::string path = {};
  std::string body = {};
  std::string api_key = {};     // as it was sent; empty: none
  bool anthropic = false;       // the client speaks Anthropic's API, and reads its errors
  std::string name_space = {};  // what the key stands for
};

// Takes a piece of a body that is written bit by bit. False: nobody listens any more.
using Emit = std::function<bool(std::string_view piece)>;

struct Reply {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::function<void(const Emit&)> stream = {};  // writes the body in its place; throws nothing
};

}  // namespace server
