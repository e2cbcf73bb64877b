// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "server/http_server.h"

namespace quire::test {

using Json = nlohmann::ordered_json;

// A reply with a JSON body.
struct Answer {
  int status = 0;
  Json json;
  httplib::Headers headers;
};

// One server-sent event: its name, if it has one, and its data; null for [DONE].
struct Event {
  std::string name;
  Json data;
};

// A server in this process on a free port, with the tiny chat model of tests/data, and a client.
class TestServer {
 public:
  explicit TestServer(server::EngineOptions engine = {}, server::HttpOptions http = {});

  Answer post(const std::string& path, const Json& body, const httplib::Headers& headers = {});
  Answer post_text(const std::string& path, const std::string& body,
                   const httplib::Headers& headers = {});
  Answer get(const std::string& path, const httplib::Headers& headers = {});
  std::string get_text(const std::string& path);

  // Checks that the reply is a stream, and that it has nothing but events.
  std::vector<Event> stream(const std::string& path, Json body,
                            const httplib::Headers& headers = {});

  // The sample of /metrics that is spelled so, labels included; 0 if there is none.
  double metric(const std::string& sample);

  httplib::Client client();  // one with a connection of its own
  server::Engine& engine() { return engine_; }
  server::HttpServer& http() { return http_; }

 private:
  server::Engine engine_;
  server::HttpServer http_;
};

// A chat of one question, of which every answer is the likeliest.
Json chat_body(const std::string& question, int max_tokens = 16);

// The same with an end of its own, as answers need that are to serve others.
Json ended_chat_body(TestServer& server, const std::string& question,
                     const httplib::Headers& headers = {});

// A chat whose answer takes a while.
Json long_body();

// The contents of a stream of chat chunks, joined.
std::string joined_content(const std::vector<Event>& events, std::size_t index = 0);

}  // namespace quire::test
