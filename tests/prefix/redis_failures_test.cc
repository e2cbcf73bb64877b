// SPDX-License-Identifier: Apache-2.0
// The Redis tier without a Redis: its values, and servers that are none.
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/page_tier.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "prefix/redis_value.h"
#include "tests/prefix/tier_texts.h"

namespace quire {
namespace {

using namespace std::chrono_literals;
using testing::TemporaryFolder;
using testing::TierTexts;
using Clock = std::chrono::steady_clock;

TEST(RedisValue, RoundTripAndDamage) {
  const TokenIds text = TierTexts::tokens(1, 40);
  const std::vector<std::byte> page(1000, std::byte{7});
  const BlockBytes block{{page, {}, page}};
  const BlockKey key{3, 4};
  std::vector<std::byte> bytes = make_redis_value(text, block, key, 99);
  EXPECT_EQ(bytes.size(), redis_value_size(40, block));
  const auto value = parse_redis_value(bytes, key);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->tokens, text);
  EXPECT_EQ(value->expires, 99);
  ASSERT_EQ(value->pages.size(), 3U);
  EXPECT_EQ(value->pages[1].size(), 0U);
  EXPECT_TRUE(std::ranges::equal(value->pages[2], page));
  EXPECT_FALSE(parse_redis_value(bytes, {5, 4})) << "another block's";
  for (std::size_t cut = 0; cut < bytes.size(); cut += 7) {
    EXPECT_FALSE(parse_redis_value(std::span(bytes).first(cut), key));
  }
  for (std::size_t at = 0; at < bytes.size(); at += 5) {
    if (at >= 12 && at < 24) continue;  // the padding and the expiry
    bytes[at] ^= std::byte{1};
    EXPECT_FALSE(parse_redis_value(bytes, key)) << at;
    bytes[at] ^= std::byte{1};
  }
}

// Listens; answers every connection with a text, or with nothing.
class StrangeServer {
 public:
  explicit StrangeServer(std::string answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_, 5), 0);
    thread_ = std::thread([this] {
      for (int line; (line = accept(listener_, nullptr, nullptr)) >= 0;) {
        send(line, answer_.data(), answer_.size(), MSG_NOSIGNAL);
        lines_.push_back(line);
      }
    });
  }
  ~StrangeServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    for (const int line : lines_) close(line);
  }
  std::string path() const { return folder_.file("socket"); }

 private:
  const TemporaryFolder folder_;
  const std::string answer_;
  int listener_;
  std::vector<int> lines_;
  std::thread thread_;
};

void expect_no_delay(const std::string& url) {
  const TierTexts texts;
  const TokenIds text = TierTexts::tokens(1, 40);
  const auto start = Clock::now();
  const auto tier = make_redis_tier(url, {.timeout = 100ms});
  EXPECT_LT(Clock::now() - start, 350ms);
  const auto made = Clock::now();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(texts.load(*tier, text), 0);
    EXPECT_EQ(texts.store(*tier, text), 0);
  }
  EXPECT_LT(Clock::now() - made, 500ms);
  EXPECT_EQ(tier->stats().skipped, 200);
  EXPECT_GT(tier->stats().failures, 0);
}

TEST(RedisFailures, NobodyThere) { expect_no_delay("unix:/no/such/socket"); }
TEST(RedisFailures, NoPortOpen) { expect_no_delay("redis://127.0.0.1:1"); }
TEST(RedisFailures, Silence) { expect_no_delay("unix:" + StrangeServer("").path()); }

TEST(RedisFailures, SilenceOfALivingServer) {
  const StrangeServer server("");
  expect_no_delay("unix:" + server.path());
}

TEST(RedisFailures, AnotherProtocol) {
  const StrangeServer server("HTTP/1.1 400 Bad Request\r\n\r\n");
  expect_no_delay("unix:" + server.path());
}

TEST(RedisFailures, AnErrorForEveryQuestion) {
  const StrangeServer server("-NOAUTH Authentication required.\r\n");
  expect_no_delay("unix:" + server.path());
}

TEST(RedisFailures, AnAnswerThatNeverEnds) {
  const StrangeServer server("$1000000\r\nbeginning");
  expect_no_delay("unix:" + server.path());
}

TEST(RedisFailures, OptionsAreChecked) {
  EXPECT_THROW(make_redis_tier("unix:/x", {.timeout = 0ms}), Error);
  EXPECT_THROW(make_redis_tier("localhost"), Error);
}

TEST(RedisFailures, NoMessageTellsThePassword) {
  for (const std::string url :
       {"redis://me:secret@host:0", "redis//me:secret@host", "redis://secret@host"}) {
    try {
      make_redis_tier(url);
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.find("secret"), std::string::npos) << message;
      EXPECT_NE(message.find("...@host"), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace quire
