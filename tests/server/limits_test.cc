// SPDX-License-Identifier: Apache-2.0
// Errors, limits, tenants and ends of the server.
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/prefix_cache.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/api_error.h"
#include "server/api_keys.h"
#include "tests/server/server_fixture.h"

namespace quire::test {
namespace {

const std::string kChat = "/v1/chat/completions";
const httplib::Headers kAnthropicHeaders = {{"anthropic-version", "2023-06-01"}};

// A file with a text, gone at the end.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("quire-server-test-" + std::to_string(::getpid()))) {
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::filesystem::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

server::ApiKeys two_tenants() {
  const TextFile file("# key namespace\nsecret-a alpha\n\n  secret-b   beta\nsecret-c alpha\n");
  return server::ApiKeys::load(file.path());
}

bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(ServerErrors, BadChatsAre400WithAMessage) {
  TestServer server;
  const auto expect_400 = [&](const Json& body, const std::string& about) {
    const Answer answer = server.post(kChat, body);
    EXPECT_EQ(answer.status, 400) << body;
    const Json& error = answer.json.at("error");
    EXPECT_EQ(error.at("type"), "invalid_request_error");
    const std::string message = error.at("message");
    EXPECT_NE(message.find(about), std::string::npos) << message;
  };
  const auto with = [](const char* key, const Json& value) {
    Json body = chat_body("Hello?");
    body[key] = value;
    return body;
  };
  const auto with_message = [](const Json& message) {
    Json body = chat_body("Hello?");
    body["messages"] = Json::array({message});
    return body;
  };
  expect_400(with("messages", Json::array()), "messages");
  expect_400(with("messages", Json()), "messages");
  expect_400(with("messages", "Hello?"), "messages");
  expect_400(with_message("Hello?"), "object");
  expect_400(with_message({{"role", "wizard"}, {"content", "Hello?"}}), "wizard");
  expect_400(with_message({{"content", "Hello?"}}), "role");
  expect_400(with_message({{"role", 5}, {"content", "Hello?"}}), "role");
  expect_400(with_message({{"role", "user"}}), "content");
  expect_400(with_message({{"role", "user"}, {"content", 5}}), "content");
  expect_400(with_message({{"role", "user"}, {"content", Json::array()}}), "content");
  expect_400(with("temperature", -0.1), "temperature");
  expect_400(with("temperature", 2.1), "temperature");
  expect_400(with("temperature", "hot"), "temperature");
  expect_400(with("top_p", 1.1), "top_p");
  expect_400(with("top_p", -1), "top_p");
  expect_400(with("min_p", 2), "min_p");
  expect_400(with("top_k", -2), "top_k");
  expect_400(with("repetition_penalty", 0), "repetition_penalty");
  expect_400(with("n", 0), "n");
  expect_400(with("n", 1000), "n");
  expect_400(with("max_tokens", 0), "max_tokens");
  expect_400(with("max_tokens", 1.5), "max_tokens");
  expect_400(with("max_tokens", 1024), "context");
  expect_400(with("max_tokens", std::numeric_limits<std::int64_t>::max()), "context");
  expect_400(with("stop", 5), "stop");
  expect_400(with("stop", ""), "stop");
  expect_400(with("stream", "yes"), "stream");
  expect_400(with("stream_options", {{"include_usage", true}}), "stream_options");
  expect_400(with("logit_bias", {{"5", 10}}), "logit_bias");
  expect_400(with("frequency_penalty", 0.5), "frequency_penalty");
  expect_400(with("best_of", 3), "best_of");
  expect_400(with("cache_salt", std::string(257, 's')), "cache_salt");
  expect_400(with("tool_choice", "required"), "tool_choice");
  expect_400(with("response_format", {{"type", "json_object"}}), "response_format");
  expect_400(chat_body(std::string(2000, 'x')), "context");
  EXPECT_EQ(server.post(kChat, with("max_tokens", 1024)).json.at("error").at("code"),
            "context_length_exceeded");
  EXPECT_EQ(server.post(kChat, with("temperature", 9)).json.at("error").at("param"), "temperature");
  EXPECT_EQ(server.engine().places().taken(), 0);
}

TEST(ServerErrors, BadBodiesAre400) {
  TestServer server;
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("\xff\xfe"),
        std::string("null"), "{\"messages\":" + std::string(100'000, '[')}) {
    EXPECT_EQ(server.post_text(kChat, body).status, 400);
    EXPECT_EQ(server.post_text("/v1/messages", body).json.at("type"), "error");
    EXPECT_EQ(server.post_text("/v1/completions", body).status, 400);
    EXPECT_EQ(server.post_text("/v1/embeddings", body).status, 400);
  }
  EXPECT_EQ(server.post("/v1/completions", {{"prompt", Json::array()}}).status, 400);
  EXPECT_EQ(server.post("/v1/completions", {{"prompt", Json::array({300})}}).status, 400);
  EXPECT_EQ(server.post("/v1/embeddings", {{"input", Json::array()}}).status, 400);
  EXPECT_EQ(server.post("/v1/embeddings", {{"input", {{"a", 1}}}}).status, 400);
}

TEST(ServerErrors, UnknownModelsAndRoutesAre404AndMethods405) {
  TestServer server;
  Json body = chat_body("Hello?");
  body["model"] = "another";
  const Answer model = server.post(kChat, body);
  EXPECT_EQ(model.status, 404);
  EXPECT_EQ(model.json.at("error").at("code"), "model_not_found");
  body["max_tokens"] = 5;
  EXPECT_EQ(server.post("/v1/messages", body).json.at("error").at("type"), "not_found_error");

  EXPECT_EQ(server.get("/nothing").status, 404);
  EXPECT_EQ(server.post("/v1/nothing", body).json.at("error").at("type"), "invalid_request_error");
  EXPECT_EQ(server.get("/v1/nothing", kAnthropicHeaders).json.at("type"), "error");
  const Answer method = server.get(kChat);
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.find("Allow")->second, "POST");
  EXPECT_EQ(server.post("/health", body).status, 405);
  EXPECT_EQ(server.client().Delete("/v1/models")->status, 405);
}

TEST(ServerErrors, ABodyTooLongIs413AndTheConnectionLivesOn) {
  TestServer server({}, {.max_body_bytes = 100'000});
  httplib::Client client = server.client();
  client.set_keep_alive(true);
  const std::string body = chat_body(std::string(200'000, 'x')).dump();
  auto result = client.Post(kChat, body, "application/json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 413);
  EXPECT_TRUE(Json::parse(result->body).at("error").contains("message"));
  // In chunks, and so without its length.
  result = client.Post(
      "/v1/messages",
      [&](std::size_t offset, httplib::DataSink& sink) {
        const std::string_view rest = std::string_view(body).substr(offset);
        if (rest.empty()) {
          sink.done();
        } else {
          sink.write(rest.data(), std::min<std::size_t>(rest.size(), 10'000));
        }
        return true;
      },
      "application/json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 413);
  EXPECT_EQ(Json::parse(result->body).at("error").at("type"), "request_too_large");
  result = client.Post(kChat, chat_body("Hello?").dump(), "application/json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
}

TEST(ServerKeys, KeysLetInAndSeparate) {
  TestServer server({}, {.keys = two_tenants()});
  const auto with_key = [](const std::string& key) {
    return httplib::Headers{{"Authorization", "Bearer " + key}};
  };
  const Json body = chat_body(std::string(200, 'x'));
  EXPECT_EQ(server.post(kChat, body).status, 401);
  const Answer unknown = server.post(kChat, body, with_key("secret-z"));
  EXPECT_EQ(unknown.status, 401);
  EXPECT_EQ(unknown.json.at("error").at("code"), "invalid_api_key");
  EXPECT_EQ(server.post("/v1/messages", body).json.at("error").at("type"), "authentication_error");
  EXPECT_EQ(server.get("/v1/models").status, 401);
  EXPECT_EQ(server.get("/v1/models", {{"x-api-key", "secret-b"}}).status, 200);
  EXPECT_EQ(server.get("/health").status, 200);

  const auto cached = [&](const std::string& key) {
    const Json json = server.post(kChat, body, with_key(key)).json;
    if (json.at("usage").at("prompt_tokens_details").at("cached_tokens") == 0) {
      EXPECT_EQ(json.at("quire").at("cache").at("why_not_more").at("reason"), "cold")
          << "says nothing of another tenant";
      return 0;
    }
    return json.at("usage").at("prompt_tokens_details").at("cached_tokens").get<int>();
  };
  EXPECT_EQ(cached("secret-a"), 0);
  EXPECT_EQ(cached("secret-b"), 0);
  EXPECT_GT(cached("secret-a"), 200);
  EXPECT_GT(cached("secret-c"), 200) << "of the same namespace as secret-a";
}

TEST(ServerKeys, EarlierAnswersAndMarksStayWithTheirTenant) {
  TestServer server({}, {.keys = two_tenants()});
  const auto with_key = [](const std::string& key) { return httplib::Headers{{"x-api-key", key}}; };
  Json body = ended_chat_body(server, "What is the colour of the sky?", with_key("secret-a"));
  body["semantic"] = true;
  const auto source = [&](const std::string& key) {
    return server.post(kChat, body, with_key(key)).json.at("quire").at("cache").at("source");
  };
  EXPECT_EQ(source("secret-a"), "model");
  EXPECT_EQ(source("secret-b"), "model");
  EXPECT_EQ(source("secret-a"), "exact");

  const Json system = Json::array({{{"type", "text"},
                                    {"text", std::string(150, 'r')},
                                    {"cache_control", {{"type", "ephemeral"}}}}});
  Json ask = chat_body("Hello?");
  ask["system"] = system;
  const auto read = [&](const std::string& key) {
    const Json json = server.post("/v1/messages", ask, with_key(key)).json;
    return json.at("usage").at("cache_read_input_tokens").get<int>();
  };
  EXPECT_EQ(read("secret-a"), 0);
  EXPECT_EQ(read("secret-b"), 0);
  EXPECT_GT(read("secret-a"), 0);
}

TEST(ServerKeys, FilesThatMakeNoSenseAreErrors) {
  for (const char* text : {"", "# nothing\n", "key\n", "key namespace more\n"}) {
    const TextFile file(text);
    EXPECT_THROW(server::ApiKeys::load(file.path()), Error) << text;
  }
  EXPECT_THROW(server::ApiKeys::load("/nowhere/at/all"), Error);
}

TEST(ServerLimits, AFullServerSays429) {
  TestServer server({.max_batch = 1, .max_queue = 1});
  {
    const auto first = server.engine().places().take();
    EXPECT_EQ(server.post(kChat, chat_body("Hello?")).status, 200) << "one may wait";
    const auto second = server.engine().places().take();
    const Answer full = server.post(kChat, chat_body("Hello?"));
    EXPECT_EQ(full.status, 429);
    EXPECT_EQ(full.json.at("error").at("type"), "rate_limit_error");
    EXPECT_EQ(full.headers.find("Retry-After")->second, "1");
    Json stream = chat_body("Hello?");
    stream["stream"] = true;
    EXPECT_EQ(server.post("/v1/messages", stream).json.at("error").at("type"), "rate_limit_error");
    EXPECT_EQ(server.get("/health").status, 200);
  }
  EXPECT_EQ(server.post(kChat, chat_body("Hello?")).status, 200);
}

TEST(ServerLimits, ARequestThatTakesTooLongIs504) {
  TestServer server({.timeout = std::chrono::milliseconds(1)});
  EXPECT_EQ(server.post(kChat, long_body()).status, 504);
  const std::vector<Event> events = server.stream(kChat, long_body());
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().data.at("error").at("type"), "server_error");
  Json body = long_body();
  body["n"] = 2;
  EXPECT_EQ(server.post(kChat, body).status, 504);
}

// A client that goes away in the midst of a stream.
void leave(TestServer& server, const std::string& path, int events) {
  Json body = long_body();
  body["stream"] = true;
  httplib::Request request;
  request.method = "POST";
  request.path = path;
  request.body = body.dump();
  request.content_receiver = [&](const char*, std::size_t, std::uint64_t, std::uint64_t) {
    return --events > 0;
  };
  httplib::Client client = server.client();
  EXPECT_FALSE(client.send(request));
  client.stop();
  EXPECT_TRUE(becomes_true([&] { return server.engine().places().taken() == 0; }));
}

TEST(ServerLimits, AClientThatLeavesEndsItsRequestAndFreesItsPages) {
  TestServer server;
  server.post(kChat, chat_body("Hello?"));
  const std::int64_t kept = server.engine().generator().prefix_cache()->stats().blocks;
  quire::Request request;
  request.prompt = "Go on and on.";
  request.ignore_eos = true;
  int pieces = 0;
  EXPECT_THROW(server.engine().run(request, [&](std::string_view) { return ++pieces < 5; }),
               server::ClientGone);
  EXPECT_EQ(pieces, 5);
  EXPECT_EQ(server.metric("quire_finished_total{reason=\"cancelled\"}"), 1);
  EXPECT_EQ(server.engine().generator().prefix_cache()->stats().blocks, kept);
}

// Over a socket the tiny model may be done before it is heard of: so several try, and one is
// enough.
TEST(ServerLimits, LeavingIsNoticedInBothApis) {
  TestServer server;
  const std::string cancelled = "quire_finished_total{reason=\"cancelled\"}";
  for (const std::string& path : {kChat, std::string("/v1/messages")}) {
    const double before = server.metric(cancelled);
    for (int i = 0; i < 50 && server.metric(cancelled) == before; ++i) leave(server, path, 5);
    EXPECT_GT(server.metric(cancelled), before) << path;
  }
}

TEST(ServerLimits, ManyClientsGetTheAnswersThatOneGets) {
  TestServer server;
  std::vector<std::string> alone;
  const auto ask = [&](int i) {
    const Json json = server.post(kChat, chat_body("Question " + std::to_string(i), 40)).json;
    return json.at("choices").at(0).at("message").at("content").get<std::string>();
  };
  for (int i = 0; i < 8; ++i) alone.push_back(ask(i));
  std::vector<std::vector<std::string>> together(8);
  std::vector<std::thread> clients;
  for (std::size_t c = 0; c < together.size(); ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 8; ++i) together[c].push_back(ask(i));
    });
  }
  for (std::thread& client : clients) client.join();
  for (const auto& answers : together) EXPECT_EQ(answers, alone);
}

TEST(ServerEnd, StoppingCancelsWhatRunsBeyondItsGrace) {
  TestServer server({}, {.grace = std::chrono::milliseconds(1)});
  std::atomic<int> status = 0;
  std::thread client([&] {
    const auto result = server.client().Post(kChat, long_body().dump(), "application/json");
    status = result ? result->status : -1;
  });
  EXPECT_TRUE(becomes_true([&] { return server.engine().places().taken() == 1 || status != 0; }));
  server.http().stop();
  client.join();
  EXPECT_TRUE(status == 503 || status == 200) << status;
  EXPECT_EQ(server.engine().places().taken(), 0);
  EXPECT_FALSE(server.client().Get("/health"));
}

TEST(ServerEnd, StoppingCancelsSeveralAnswersToo) {
  TestServer server({}, {.grace = std::chrono::milliseconds(1)});
  server.engine().cancel_all();
  Json body = long_body();
  body["n"] = 4;
  EXPECT_EQ(server.post(kChat, body).status, 503);
}

}  // namespace
}  // namespace quire::test
