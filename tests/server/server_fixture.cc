// SPDX-License-Identifier: Apache-2.0
#include "tests/server/server_fixture.h"

#include <gtest/gtest.h>

#include <sstream>

namespace quire::test {
namespace {

std::shared_ptr<const Model> tiny_chat() {
  static const auto model = Model::load(QUIRE_TEST_DATA "/chat", {.threads = 1});
  return model;
}

std::shared_ptr<const Embedder> tiny_embedder() {
  static const auto embedder =
      Embedder::load(QUIRE_TEST_DATA "/encoders/bert-text", {.threads = 1});
  return embedder;
}

server::EngineOptions named(server::EngineOptions options) {
  options.model_id = "tiny";
  options.embedder_id = "tiny-embedder";
  options.threads = 1;
  return options;
}

server::HttpOptions on_a_free_port(server::HttpOptions options) {
  options.port = 0;
  return options;
}

Answer answer_of(const httplib::Result& result) {
  if (!result) {
    ADD_FAILURE() << "no reply: " << httplib::to_string(result.error());
    return {};
  }
  Json json = Json::parse(result->body, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result->body;
  return {result->status, std::move(json), result->headers};
}

Event event_of(const std::string& text) {
  Event event;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("event: ")) {
      event.name = line.substr(7);
    } else {
      EXPECT_TRUE(line.starts_with("data: ")) << line;
      event.data = line == "data: [DONE]" ? Json() : Json::parse(line.substr(6));
    }
  }
  return event;
}

}  // namespace

TestServer::TestServer(server::EngineOptions engine, server::HttpOptions http)
    : engine_(tiny_chat(), tiny_embedder(), named(std::move(engine))),
      http_(engine_, on_a_free_port(std::move(http))) {}

httplib::Client TestServer::client() {
  httplib::Client client("127.0.0.1", http_.port());
  client.set_read_timeout(60);
  return client;
}

Answer TestServer::post(const std::string& path, const Json& body,
                        const httplib::Headers& headers) {
  return post_text(path, body.dump(), headers);
}

Answer TestServer::post_text(const std::string& path, const std::string& body,
                             const httplib::Headers& headers) {
  return answer_of(client().Post(path, headers, body, "application/json"));
}

Answer TestServer::get(const std::string& path, const httplib::Headers& headers) {
  return answer_of(client().Get(path, headers));
}

std::string TestServer::get_text(const std::string& path) {
  const httplib::Result result = client().Get(path);
  EXPECT_TRUE(result && result->status == 200);
  return result ? result->body : "";
}

std::vector<Event> TestServer::stream(const std::string& path, Json body,
                                      const httplib::Headers& headers) {
  body["stream"] = true;
  const httplib::Result result = client().Post(path, headers, body.dump(), "application/json");
  std::vector<Event> events;
  if (!result || result->status != 200) {
    ADD_FAILURE() << (result ? result->body : httplib::to_string(result.error()));
    return events;
  }
  EXPECT_EQ(result->get_header_value("Content-Type"), "text/event-stream");
  const std::string& text = result->body;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find("\n\n", begin);
    if (end == std::string::npos) {
      ADD_FAILURE() << "an event without an end: " << text.substr(begin);
      break;
    }
    events.push_back(event_of(text.substr(begin, end - begin)));
    begin = end + 2;
  }
  return events;
}

double TestServer::metric(const std::string& sample) {
  std::istringstream lines(get_text("/metrics"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(sample + " ")) return std::stod(line.substr(sample.size()));
  }
  return 0;
}

Json chat_body(const std::string& question, int max_tokens) {
  return {{"model", "tiny"},
          {"messages", Json::array({{{"role", "user"}, {"content", question}}})},
          {"max_tokens", max_tokens},
          {"temperature", 0}};
}

Json long_body() {
  Json body = chat_body("Go on and on.", 900);
  body["ignore_eos"] = true;
  return body;
}

Json ended_chat_body(TestServer& server, const std::string& question,
                     const httplib::Headers& headers) {
  Json body = chat_body(question);
  const Json free = server.post("/v1/chat/completions", body, headers).json;
  const std::string text = free.at("choices").at(0).at("message").at("content");
  body["stop"] = text.substr(text.size() / 2, 2);
  return body;
}

std::string joined_content(const std::vector<Event>& events, std::size_t index) {
  std::string text;
  for (const Event& event : events) {
    if (!event.data.is_object()) continue;
    for (const Json& choice : event.data.at("choices")) {
      if (choice.at("index") == index) text += choice.at("delta").value("content", "");
    }
  }
  return text;
}

}  // namespace quire::test
