// SPDX-License-Identifier: Apache-2.0
// OpenAI's endpoints, over a real socket.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/server/server_fixture.h"

namespace quire::test {
namespace {

const std::string kChat = "/v1/chat/completions";
const std::string kCompletions = "/v1/completions";

class OpenAi : public ::testing::Test {
 protected:
  TestServer server;
};

std::string content(const Json& json, std::size_t index = 0) {
  return json.at("choices").at(index).at("message").at("content");
}

void expect_sums(const Json& usage) {
  EXPECT_EQ(usage.at("total_tokens").get<int>(),
            usage.at("prompt_tokens").get<int>() + usage.at("completion_tokens").get<int>());
  EXPECT_LE(usage.at("prompt_tokens_details").at("cached_tokens").get<int>(),
            usage.at("prompt_tokens").get<int>());
}

TEST_F(OpenAi, AChatHasTheShapeThatClientsRead) {
  const Answer answer = server.post(kChat, chat_body("Hello?", 5));
  ASSERT_EQ(answer.status, 200) << answer.json;
  EXPECT_EQ(answer.json.at("object"), "chat.completion");
  EXPECT_EQ(answer.json.at("model"), "tiny");
  EXPECT_TRUE(answer.json.at("id").get<std::string>().starts_with("chatcmpl-"));
  const Json& choice = answer.json.at("choices").at(0);
  EXPECT_EQ(choice.at("message").at("role"), "assistant");
  EXPECT_EQ(choice.at("finish_reason"), "length");
  EXPECT_EQ(content(answer.json).size(), 5u) << "a byte a token";
  expect_sums(answer.json.at("usage"));
  EXPECT_EQ(answer.json.at("usage").at("completion_tokens"), 5);
  const std::string prompt = "<|im_start|>user\nHello?<|im_end|>\n<|im_start|>assistant\n";
  const std::size_t specials = 2 * (12 - 1) + 10 - 1;  // each one token, not a byte each
  EXPECT_EQ(answer.json.at("usage").at("prompt_tokens"), prompt.size() - specials);
}

TEST_F(OpenAi, TheSamePromptAgainIsReadFromTheCache) {
  const Json first = server.post(kChat, chat_body(std::string(200, 'x'))).json;
  const Json second = server.post(kChat, chat_body(std::string(200, 'x'))).json;
  EXPECT_EQ(content(first), content(second));
  EXPECT_EQ(first.at("usage").at("prompt_tokens_details").at("cached_tokens"), 0);
  EXPECT_EQ(second.at("usage").at("prompt_tokens_details").at("cached_tokens").get<int>(),
            second.at("usage").at("prompt_tokens").get<int>() - 1);
  EXPECT_EQ(first.at("quire").at("cache").at("why_not_more").at("reason"), "cold");
  EXPECT_EQ(second.at("quire").at("cache").at("why_not_more").at("reason"), "none");
}

TEST_F(OpenAi, AMissSaysWhereAndBetweenWhat) {
  server.post(kChat, chat_body(std::string(100, 'x') + "a"));
  const Json json = server.post(kChat, chat_body(std::string(100, 'x') + "b")).json;
  const Json& why = json.at("quire").at("cache").at("why_not_more");
  EXPECT_EQ(why.at("reason"), "diverged");
  EXPECT_EQ(why.at("had_text"), "a");
  EXPECT_EQ(why.at("got_text"), "b");
}

TEST_F(OpenAi, AStreamIsTheSameAnswerInPieces) {
  Json body = chat_body("Tell me a story.", 60);
  body["temperature"] = 0.7;
  body["seed"] = 11;
  const Json whole = server.post(kChat, body).json;
  body["stream_options"] = {{"include_usage", true}};
  const std::vector<Event> events = server.stream(kChat, body);
  ASSERT_GE(events.size(), 5u);
  EXPECT_EQ(joined_content(events), content(whole));
  EXPECT_EQ(events.front().data.at("choices").at(0).at("delta").at("role"), "assistant");
  EXPECT_TRUE(events.back().data.is_null()) << "[DONE]";
  const Json& usage = events[events.size() - 2].data;
  EXPECT_TRUE(usage.at("choices").empty());
  for (const char* key : {"prompt_tokens", "completion_tokens", "total_tokens"}) {
    EXPECT_EQ(usage.at("usage").at(key), whole.at("usage").at(key)) << key;
  }
  const Json& last = events[events.size() - 3].data.at("choices").at(0);
  EXPECT_EQ(last.at("finish_reason"), whole.at("choices").at(0).at("finish_reason"));
  for (std::size_t i = 0; i + 3 < events.size(); ++i) {
    EXPECT_EQ(events[i].data.at("object"), "chat.completion.chunk");
    EXPECT_TRUE(events[i].data.at("choices").at(0).at("finish_reason").is_null());
  }
}

TEST_F(OpenAi, UsageComesInAStreamOnlyWhenAsked) {
  const std::vector<Event> events = server.stream(kChat, chat_body("Hello?", 4));
  for (const Event& event : events) {
    EXPECT_FALSE(event.data.is_object() && event.data.contains("usage"));
  }
}

TEST_F(OpenAi, SeveralAnswersStreamedOrNot) {
  Json body = chat_body("Choose.", 12);
  body.update({{"n", 3}, {"temperature", 1.5}, {"seed", 3}});
  const Json whole = server.post(kChat, body).json;
  ASSERT_EQ(whole.at("choices").size(), 3u);
  EXPECT_NE(content(whole, 0), content(whole, 1));
  expect_sums(whole.at("usage"));
  const std::vector<Event> events = server.stream(kChat, body);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(whole.at("choices").at(i).at("index"), i);
    EXPECT_EQ(joined_content(events, i), content(whole, i));
  }
}

TEST_F(OpenAi, SeedsDecideAndWithoutOneDrawsDiffer) {
  Json body = chat_body("Choose.", 40);
  body["temperature"] = 2;
  EXPECT_NE(content(server.post(kChat, body).json), content(server.post(kChat, body).json));
  body["seed"] = -7;
  EXPECT_EQ(content(server.post(kChat, body).json), content(server.post(kChat, body).json));
}

TEST_F(OpenAi, AStopTextEndsTheAnswerBeforeIt) {
  const std::string free = content(server.post(kChat, chat_body("Go on.", 30)).json);
  ASSERT_GT(free.size(), 10u);
  const std::string stop = free.substr(8, 2);
  Json body = chat_body("Go on.", 30);
  for (const Json& value : {Json(stop), Json::array({"never said", stop})}) {
    body["stop"] = value;
    const Json json = server.post(kChat, body).json;
    EXPECT_EQ(content(json), free.substr(0, free.find(stop)));
    EXPECT_EQ(json.at("choices").at(0).at("finish_reason"), "stop");
    EXPECT_EQ(joined_content(server.stream(kChat, body)), content(json));
  }
}

TEST_F(OpenAi, PartsReadAsTheirTextDoes) {
  Json body = chat_body("one two");
  const Json plain = server.post(kChat, body).json;
  body["messages"][0]["content"] =
      Json::array({{{"type", "text"}, {"text", "one "}}, {{"type", "text"}, {"text", "two"}}});
  const Json parts = server.post(kChat, body).json;
  EXPECT_EQ(content(parts), content(plain));
  EXPECT_EQ(parts.at("usage").at("prompt_tokens"), plain.at("usage").at("prompt_tokens"));
}

TEST_F(OpenAi, MaxCompletionTokensIsTheNewerName) {
  Json body = chat_body("Hello?", 9);
  body["max_completion_tokens"] = 3;
  EXPECT_EQ(server.post(kChat, body).json.at("usage").at("completion_tokens"), 3);
}

TEST_F(OpenAi, AnAnswerToTheSameIsServedOnlyWhenAsked) {
  Json body = ended_chat_body(server, "What is the colour of the sky?");
  const Json first = server.post(kChat, body).json;
  EXPECT_EQ(server.post(kChat, body).json.at("quire").at("cache").at("source"), "model");
  body["semantic"] = true;
  EXPECT_EQ(server.post(kChat, body).json.at("quire").at("cache").at("source"), "model");
  const Json again = server.post(kChat, body).json;
  EXPECT_EQ(again.at("quire").at("cache").at("source"), "exact");
  EXPECT_EQ(content(again), content(first));
  EXPECT_EQ(joined_content(server.stream(kChat, body)), content(first));
}

TEST_F(OpenAi, Completions) {
  Json body = {{"model", "tiny"}, {"prompt", "Once upon"}, {"max_tokens", 8}, {"temperature", 0}};
  const Json json = server.post(kCompletions, body).json;
  EXPECT_EQ(json.at("object"), "text_completion");
  const std::string text = json.at("choices").at(0).at("text");
  EXPECT_EQ(json.at("usage").at("prompt_tokens"), 9);
  expect_sums(json.at("usage"));

  std::string streamed;
  for (const Event& event : server.stream(kCompletions, body)) {
    if (event.data.is_object())
      streamed += event.data.at("choices").at(0).at("text").get<std::string>();
  }
  EXPECT_EQ(streamed, text);

  body["echo"] = true;
  EXPECT_EQ(server.post(kCompletions, body).json.at("choices").at(0).at("text"),
            "Once upon" + text);
  body.erase("echo");
  Json ids = Json::array();
  for (const char c : std::string("Once upon")) ids.push_back(3 + c);
  body["prompt"] = Json::array({"Twice", "Once upon"});
  const Json two = server.post(kCompletions, body).json;
  EXPECT_EQ(two.at("choices").at(1).at("text"), text);
  EXPECT_EQ(two.at("usage").at("prompt_tokens"), 5 + 9);
  body["prompt"] = ids;
  EXPECT_EQ(server.post(kCompletions, body).json.at("choices").at(0).at("text"), text);
  body["prompt"] = Json::array({ids, ids});
  EXPECT_EQ(server.post(kCompletions, body).json.at("choices").at(1).at("text"), text);
  body.erase("max_tokens");
  body["ignore_eos"] = true;
  EXPECT_EQ(server.post(kCompletions, body).json.at("usage").at("completion_tokens"), 2 * 16);
}

TEST_F(OpenAi, LogprobsOfAChat) {
  Json body = chat_body("Hello?", 6);
  body.update({{"logprobs", true}, {"top_logprobs", 3}});
  const Json choice = server.post(kChat, body).json.at("choices").at(0);
  std::string text;
  for (const Json& step : choice.at("logprobs").at("content")) {
    text += step.at("token").get<std::string>();
    ASSERT_EQ(step.at("top_logprobs").size(), 3u);
    EXPECT_EQ(step.at("top_logprobs").at(0).at("token"), step.at("token")) << "greedy";
    EXPECT_EQ(step.at("top_logprobs").at(0).at("logprob"), step.at("logprob"));
    EXPECT_LE(step.at("logprob").get<double>(), 0);
    EXPECT_EQ(step.at("bytes").at(0), static_cast<int>(step.at("token").get<std::string>()[0]));
  }
  EXPECT_EQ(text, choice.at("message").at("content"));
  body["stream"] = true;
  EXPECT_EQ(server.post(kChat, body).status, 400);
}

TEST_F(OpenAi, LogprobsOfACompletion) {
  const Json body = {{"prompt", "Once"}, {"max_tokens", 5}, {"logprobs", 2}, {"echo", true}};
  const Json choice = server.post(kCompletions, body).json.at("choices").at(0);
  const Json& logprobs = choice.at("logprobs");
  std::string text = "Once";
  for (std::size_t i = 0; i < logprobs.at("tokens").size(); ++i) {
    EXPECT_EQ(logprobs.at("text_offset").at(i), text.size());
    text += logprobs.at("tokens").at(i).get<std::string>();
    EXPECT_EQ(logprobs.at("top_logprobs").at(i).size(), 2u);
  }
  EXPECT_EQ(text, choice.at("text"));
  EXPECT_EQ(logprobs.at("token_logprobs").size(), logprobs.at("tokens").size());
}

TEST_F(OpenAi, Embeddings) {
  const Json body = {{"model", "tiny-embedder"}, {"input", Json::array({"one", "two words"})}};
  const Json json = server.post("/v1/embeddings", body).json;
  ASSERT_EQ(json.at("data").size(), 2u);
  const auto& embedder = *server.engine().embedder();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto values = json.at("data").at(i).at("embedding").get<std::vector<float>>();
    EXPECT_EQ(values, embedder.embed(body.at("input").at(i).get<std::string>()));
    EXPECT_EQ(json.at("data").at(i).at("index"), i);
  }
  const std::int64_t tokens = std::ssize(embedder.embed_in_detail("one").ids) +
                              std::ssize(embedder.embed_in_detail("two words").ids);
  EXPECT_EQ(json.at("usage").at("prompt_tokens"), tokens);
}

TEST_F(OpenAi, EmbeddingsInBase64) {
  Json body = {{"model", "tiny-embedder"}, {"input", "one"}};
  const auto plain = server.post("/v1/embeddings", body)
                         .json.at("data")
                         .at(0)
                         .at("embedding")
                         .get<std::vector<float>>();
  body["encoding_format"] = "base64";
  const std::string text =
      server.post("/v1/embeddings", body).json.at("data").at(0).at("embedding");
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  ASSERT_EQ(text.size(), (plain.size() * 4 + 2) / 3 * 4);
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t digit = digits.find(text[i + k]);
      bits = bits << 6 | (digit == std::string::npos ? 0u : static_cast<unsigned>(digit));
    }
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift & 255);
  }
  std::vector<float> values(plain.size());
  std::memcpy(values.data(), bytes.data(), plain.size() * sizeof(float));
  EXPECT_EQ(values, plain);
}

TEST_F(OpenAi, Models) {
  const Json list = server.get("/v1/models").json;
  ASSERT_EQ(list.at("data").size(), 2u);
  EXPECT_EQ(list.at("data").at(0).at("id"), "tiny");
  EXPECT_EQ(server.get("/v1/models/tiny").json.at("object"), "model");
  EXPECT_EQ(server.get("/v1/models/other").status, 404);
}

}  // namespace
}  // namespace quire::test
