// SPDX-License-Identifier: Apache-2.0
// What the server is around its routes: port, threads, page, metrics.
#include <gtest/gtest.h>
#include <quire/error.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "server/connection_threads.h"
#include "tests/server/server_fixture.h"

namespace quire::test {
namespace {

const std::string kChat = "/v1/chat/completions";

TEST(ServerThreads, ServeAllThatIsEnqueuedBeforeTheyEnd) {
  server::ConnectionThreads threads(3);
  std::atomic<int> served = 0;
  std::atomic<int> at_once = 0;
  std::atomic<int> most = 0;
  for (int i = 0; i < 100; ++i) {
    threads.enqueue([&] {
      const int now = ++at_once;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --at_once;
      ++served;
    });
  }
  threads.shutdown();
  EXPECT_EQ(served, 100);
  EXPECT_EQ(most, 3);
}

TEST(ServerEnd, APortThatIsTakenIsAnError) {
  TestServer server;
  try {
    server::HttpServer second(server.engine(), {.port = server.http().port()});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
  }
}

TEST(ServerPage, IsOneFileWithoutOutsideResources) {
  TestServer server;
  const httplib::Result page = server.client().Get("/");
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->get_header_value("Content-Type").starts_with("text/html"));
  EXPECT_EQ(page->body.find("src="), std::string::npos);
  EXPECT_EQ(page->body.find("<link"), std::string::npos);
  EXPECT_EQ(page->body.find("url("), std::string::npos);
  EXPECT_NE(page->body.find("</html>"), std::string::npos);
  EXPECT_TRUE(server.client().Head("/"));
}

TEST(ServerMetrics, TimeOutsCountWithTheTimeTheyTook) {
  TestServer server({.timeout = std::chrono::milliseconds(1)});
  EXPECT_EQ(server.post(kChat, long_body()).status, 504);
  EXPECT_EQ(server.metric("quire_answer_seconds_count"), 1);
  EXPECT_GT(server.metric("quire_answer_seconds_sum"), 0);
}

TEST(ServerMetrics, CountTokensBySource) {
  TestServer server;
  const Json body = chat_body(std::string(200, 'x'));
  const int prompt = server.post(kChat, body).json.at("usage").at("prompt_tokens");
  EXPECT_EQ(server.metric("quire_prompt_tokens_total{source=\"computed\"}"), prompt);
  server.post(kChat, body);
  EXPECT_EQ(server.metric("quire_prompt_tokens_total{source=\"computed\"}"), prompt + 1);
  EXPECT_EQ(server.metric("quire_prompt_tokens_total{source=\"memory\"}") +
                server.metric("quire_prompt_tokens_total{source=\"copied\"}"),
            prompt - 1);
  EXPECT_EQ(server.metric("quire_misses_total{reason=\"cold\"}"), 1);
  EXPECT_EQ(server.metric("quire_replies_total{route=\"/v1/chat/completions\",status=\"200\"}"), 2);
  EXPECT_EQ(server.metric("quire_first_token_seconds_count"), 2);
  EXPECT_EQ(server.metric("quire_requests_active"), 0);
  std::istringstream lines(server.get_text("/metrics"));
  for (std::string line; std::getline(lines, line);) {
    const bool comment = line.starts_with("# HELP quire_") || line.starts_with("# TYPE quire_");
    EXPECT_TRUE(comment || line.starts_with("quire_")) << line;
  }
}

}  // namespace
}  // namespace quire::test
