// SPDX-License-Identifier: Apache-2.0
// Anthropic's endpoints, over a real socket.
#include <gtest/gtest.h>

#include "tests/server/server_fixture.h"

namespace quire::test {
namespace {

const std::string kMessages = "/v1/messages";

class Anthropic : public ::testing::Test {
 protected:
  TestServer server;
};

Json ask(const std::string& question, int max_tokens = 12) {
  return {{"model", "tiny"},
          {"max_tokens", max_tokens},
          {"temperature", 0},
          {"messages", Json::array({{{"role", "user"}, {"content", question}}})}};
}

Json marked(const std::string& text) {
  return {{"type", "text"}, {"text", text}, {"cache_control", {{"type", "ephemeral"}}}};
}

int at(const Json& usage, const char* key) { return usage.at(key).get<int>(); }

int input_tokens(const Json& usage) {
  return at(usage, "input_tokens") + at(usage, "cache_creation_input_tokens") +
         at(usage, "cache_read_input_tokens");
}

TEST_F(Anthropic, AMessageHasTheShapeThatClientsRead) {
  const Answer answer = server.post(kMessages, ask("Hello?", 5));
  ASSERT_EQ(answer.status, 200) << answer.json;
  EXPECT_EQ(answer.json.at("type"), "message");
  EXPECT_EQ(answer.json.at("role"), "assistant");
  EXPECT_TRUE(answer.json.at("id").get<std::string>().starts_with("msg_"));
  EXPECT_EQ(answer.json.at("content").at(0).at("type"), "text");
  EXPECT_EQ(answer.json.at("stop_reason"), "max_tokens");
  EXPECT_TRUE(answer.json.at("stop_sequence").is_null());
  EXPECT_EQ(answer.json.at("usage").at("output_tokens"), 5);
}

TEST_F(Anthropic, SaysWhatTheOtherApiSays) {
  Json body = ask("Hello?");
  body["system"] = "Be brief.";
  Json chat = chat_body("Hello?", 12);
  chat["messages"].insert(chat["messages"].begin(),
                          Json{{"role", "system"}, {"content", "Be brief."}});
  const Json a = server.post(kMessages, body).json;
  const Json b = server.post("/v1/chat/completions", chat).json;
  EXPECT_EQ(a.at("content").at(0).at("text"), b.at("choices").at(0).at("message").at("content"));
  EXPECT_EQ(input_tokens(a.at("usage")), at(b.at("usage"), "prompt_tokens"));
}

TEST_F(Anthropic, ASystemPromptOfBlocksReadsAsItsText) {
  Json body = ask("Hello?");
  body["system"] = "Be brief. Be kind.";
  const Json plain = server.post(kMessages, body).json;
  body["system"] = Json::array(
      {{{"type", "text"}, {"text", "Be brief. "}}, {{"type", "text"}, {"text", "Be kind."}}});
  const Json blocks = server.post(kMessages, body).json;
  EXPECT_EQ(blocks.at("content"), plain.at("content"));
  EXPECT_EQ(input_tokens(blocks.at("usage")), input_tokens(plain.at("usage")));
}

TEST_F(Anthropic, AMarkIsCreatedOnceAndReadAfterwards) {
  const std::string rules(150, 'r');
  Json body = ask("First?");
  body["system"] = Json::array({marked(rules)});
  const Json first = server.post(kMessages, body).json.at("usage");
  const std::string covered = "<|im_start|>system\n" + rules + "<|im_end|>\n";
  const int tokens = static_cast<int>(covered.size()) - (12 - 1) - (10 - 1);
  EXPECT_EQ(at(first, "cache_creation_input_tokens"), tokens);
  EXPECT_EQ(at(first, "cache_read_input_tokens"), 0);
  body["messages"][0]["content"] = "A second one?";
  const Json second = server.post(kMessages, body).json.at("usage");
  EXPECT_EQ(at(second, "cache_creation_input_tokens"), 0);
  EXPECT_EQ(at(second, "cache_read_input_tokens"), tokens);
  for (const std::vector<Event>& events : {server.stream(kMessages, body)}) {
    const Json& usage = events[events.size() - 2].data.at("usage");
    EXPECT_EQ(at(usage, "cache_read_input_tokens"), tokens);
    EXPECT_EQ(at(usage, "input_tokens"), at(second, "input_tokens"));
  }
  const Json count = server.post(kMessages + "/count_tokens", body).json;
  EXPECT_EQ(at(count, "input_tokens"), input_tokens(second));
}

TEST_F(Anthropic, MarksInAConversationGrowWithIt) {
  Json body = ask("");
  body["messages"][0]["content"] = Json::array({marked(std::string(100, 'q'))});
  const Json first = server.post(kMessages, body).json;
  const int created = at(first.at("usage"), "cache_creation_input_tokens");
  EXPECT_GT(created, 100);
  body["messages"].push_back({{"role", "assistant"}, {"content", first.at("content")}});
  body["messages"].push_back(
      {{"role", "user"}, {"content", Json::array({marked(std::string(50, 'p'))})}});
  const Json second = server.post(kMessages, body).json.at("usage");
  EXPECT_EQ(at(second, "cache_read_input_tokens"), created);
  EXPECT_GT(at(second, "cache_creation_input_tokens"), 50);
}

TEST_F(Anthropic, AMarkOfTheWholeRequestIsThatOfItsLastMessage) {
  for (const Json& content : {Json(std::string(100, 'a')),
                              Json::array({{{"type", "text"}, {"text", std::string(100, 'b')}}})}) {
    Json body = ask("");
    body["messages"][0]["content"] = content;
    body["cache_control"] = {{"type", "ephemeral"}};
    const Json first = server.post(kMessages, body).json.at("usage");
    const Json second = server.post(kMessages, body).json.at("usage");
    EXPECT_GT(at(first, "cache_creation_input_tokens"), 100);
    EXPECT_EQ(at(second, "cache_read_input_tokens"), at(first, "cache_creation_input_tokens"));
    EXPECT_EQ(at(second, "cache_creation_input_tokens"), 0);
  }
}

TEST_F(Anthropic, AStreamIsTheSameAnswerInPieces) {
  const Json whole = server.post(kMessages, ask("Tell me a story.", 40)).json;
  const std::vector<Event> events = server.stream(kMessages, ask("Tell me a story.", 40));
  ASSERT_GE(events.size(), 6u);
  std::string text;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].name, events[i].data.at("type"));
    const bool inside = i >= 2 && i + 3 < events.size();
    if (inside) {
      EXPECT_EQ(events[i].name, "content_block_delta");
      text += events[i].data.at("delta").at("text").get<std::string>();
    }
  }
  EXPECT_EQ(text, whole.at("content").at(0).at("text"));
  EXPECT_EQ(events[0].name, "message_start");
  EXPECT_EQ(input_tokens(events[0].data.at("message").at("usage")),
            input_tokens(whole.at("usage")));
  EXPECT_EQ(events[1].name, "content_block_start");
  const std::size_t end = events.size();
  EXPECT_EQ(events[end - 3].name, "content_block_stop");
  EXPECT_EQ(events[end - 2].name, "message_delta");
  EXPECT_EQ(events[end - 2].data.at("delta").at("stop_reason"), whole.at("stop_reason"));
  EXPECT_EQ(events[end - 2].data.at("usage").at("output_tokens"),
            whole.at("usage").at("output_tokens"));
  EXPECT_EQ(events[end - 1].name, "message_stop");
}

TEST_F(Anthropic, AStopSequenceIsNamed) {
  const std::string free =
      server.post(kMessages, ask("Go on.", 30)).json.at("content").at(0).at("text");
  ASSERT_GT(free.size(), 10u);
  Json body = ask("Go on.", 30);
  body["stop_sequences"] = Json::array({free.substr(8, 2)});
  const Json json = server.post(kMessages, body).json;
  EXPECT_EQ(json.at("stop_reason"), "stop_sequence");
  EXPECT_EQ(json.at("stop_sequence"), free.substr(8, 2));
  EXPECT_EQ(json.at("content").at(0).at("text"), free.substr(0, free.find(free.substr(8, 2))));
}

TEST_F(Anthropic, WhatItDoesNotTakeIsSaid) {
  const auto expect_400 = [&](Json body, const std::string& about) {
    const Answer answer = server.post(kMessages, body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.json.at("type"), "error");
    EXPECT_EQ(answer.json.at("error").at("type"), "invalid_request_error");
    const std::string message = answer.json.at("error").at("message");
    EXPECT_NE(message.find(about), std::string::npos) << message;
  };
  const auto with = [](const char* key, const Json& value) {
    Json body = ask("Hello?");
    body[key] = value;
    return body;
  };
  expect_400(with("messages", Json::array()), "messages");
  expect_400(with("messages", Json()), "messages");
  expect_400(with("max_tokens", Json()), "max_tokens");
  expect_400(with("max_tokens", 0), "max_tokens");
  expect_400(with("max_tokens", 100000), "context");
  expect_400(with("temperature", 1.5), "temperature");
  expect_400(with("top_p", -0.5), "top_p");
  expect_400(with("top_k", -1), "top_k");
  expect_400(with("tools", Json::array({{{"name", "f"}}})), "tools");
  expect_400(with("system", 5), "content");
  Json body = ask("Hello?");
  body["messages"][0]["role"] = "wizard";
  expect_400(body, "wizard");
  body = ask("Hello?");
  body["messages"][0]["content"] = Json::array({{{"type", "image"}}});
  expect_400(body, "image");
  Json block = marked("x");
  block["cache_control"]["ttl"] = "soon";
  body["messages"][0]["content"] = Json::array({block});
  expect_400(body, "ttl");
  block = marked("x");
  body["messages"][0]["content"] = Json::array({block, block, block, block, block});
  expect_400(body, "4 marks");
}

}  // namespace
}  // namespace quire::test
