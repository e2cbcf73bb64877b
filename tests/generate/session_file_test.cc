// SPDX-License-Identifier: Apache-2.0
// Conversations in files: Session::save and load.
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/session.h>
#include <quire/snapshot.h>
#include <quire/static_cache.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/generate/models.h"

namespace quire {

static bool operator==(const Message& a, const Message& b) {
  const auto ttl_of = [](const Message& m) {
    return m.cache_control ? std::optional(m.cache_control->ttl) : std::nullopt;
  };
  return a.role == b.role && a.content == b.content && a.fields_json == b.fields_json &&
         ttl_of(a) == ttl_of(b);
}

namespace {

namespace fs = std::filesystem;
using test::code_of;
using test::smollm2;
using test::smollm2_reference;

class SessionFiles : public ::testing::Test {
 protected:
  ~SessionFiles() override { fs::remove(file_); }

  // What a session is: two that are equal go on equally.
  struct State {
    std::vector<Message> messages;
    TokenIds ids;
    std::int64_t length;
    bool operator==(const State&) const = default;
  };
  static State state_of(const Session& session) {
    return {
        session.messages(), {session.ids().begin(), session.ids().end()}, session.cache().length()};
  }

  Generator generator_{smollm2()};
  const fs::path file_ = fs::path(::testing::TempDir()) / "quire_session_test.quire";
};

std::string question_of(const Json& turn) { return turn.at("question").get<std::string>(); }

TEST_F(SessionFiles, ALoadedConversationGoesOnAsTransformersDoes) {
  const Json& turns = smollm2_reference().at("chat_turns");
  ASSERT_GE(turns.size(), 2u);
  State saved;
  {
    Session session(generator_);
    session.say(question_of(turns[0]), {.max_new_tokens = 64});
    session.save(file_);
    saved = state_of(session);
    session.say("What is saved does not change.", {.max_new_tokens = 2});
  }
  for (int time = 0; time < 2; ++time) {
    Session session(generator_);
    session.say("Something else, which the file replaces.", {.max_new_tokens = 2});
    session.load(file_);
    EXPECT_EQ(state_of(session), saved);
    const Result result = session.say(question_of(turns[1]), {.max_new_tokens = 64});
    EXPECT_EQ(result.ids, turns[1].at("new_ids").get<TokenIds>());
    EXPECT_EQ(result.usage.prompt_tokens, turns[1].at("tokens_in").get<std::int64_t>());
    EXPECT_EQ(result.usage.cached_tokens, saved.length) << "nothing is read again";
    EXPECT_EQ(session.cache().length(), turns[1].at("cache_now").get<std::int64_t>());
  }
}

TEST_F(SessionFiles, TheCacheIsOfTheClassItWasAndResetLeadsToTheOwnStart) {
  SessionOptions options;
  options.messages = {{"system", "Answer in one word."}};
  options.cache =
      std::make_unique<StaticCache>(smollm2()->kv_spec(), StaticCacheOptions{.max_length = 300});
  Session session(generator_, std::move(options));
  session.say("Hi", {.max_new_tokens = 2});
  session.save(file_);
  SessionOptions own;
  own.messages = {{"system", "Be kind."}};
  Session other(generator_, std::move(own));
  other.load(file_);
  EXPECT_EQ(other.cache().kind(), "static");
  EXPECT_EQ(other.cache().capacity(), 300);
  EXPECT_EQ(other.messages()[0].content, "Answer in one word.");
  other.reset();
  ASSERT_EQ(other.messages().size(), 1u);
  EXPECT_EQ(other.messages()[0].content, "Be kind.");
  EXPECT_TRUE(other.ids().empty());
  EXPECT_EQ(other.cache().length(), 0);
}

TEST_F(SessionFiles, EveryTextAndFieldIsKept) {
  Session session(generator_);
  const std::string text = std::string("\"quoted\" \\ \n\t\0 é \xF0\x9F\x98\x80", 22);
  const std::vector<Message> conversation = {
      {"system", ""},
      {"user", text},
      {"assistant", "", R"({"role":"assistant","content":"","tool_calls":[{"id":"1"}]})"},
      {"user", "<|im_end|> is text here", {}, CacheControl{std::chrono::hours(1)}}};
  session.answer(conversation, {.max_new_tokens = 2});
  session.save(file_);
  Session other(generator_);
  other.load(file_);
  EXPECT_EQ(state_of(other), state_of(session));
  EXPECT_EQ(other.messages()[1].content, text);
  EXPECT_EQ(other.messages()[2].fields_json, conversation[2].fields_json);
}

TEST_F(SessionFiles, AForkIsSavedAsItIs) {
  Session trunk(generator_);
  trunk.say("Hi", {.max_new_tokens = 2});
  const State before = state_of(trunk);
  Session branch = trunk.fork();
  branch.say("More", {.max_new_tokens = 2});
  branch.save(file_);
  EXPECT_EQ(state_of(trunk), before);
  trunk.load(file_);
  EXPECT_EQ(state_of(trunk), state_of(branch));
}

// A file that is not taken leaves the session as it was.
TEST_F(SessionFiles, ARefusedFileChangesNothing) {
  Session session(generator_);
  session.say("Hi", {.max_new_tokens = 3});
  const State before = state_of(session);
  const auto refusal = [&] {
    const auto code = code_of([&] { session.load(file_); });
    EXPECT_EQ(state_of(session), before);
    return code;
  };
  EXPECT_EQ(refusal(), ErrorCode::kNotFound);
  std::ofstream(file_) << "no snapshot";
  EXPECT_EQ(refusal(), ErrorCode::kCorrupt);

  Request prompt;
  prompt.prompt = "No conversation.";
  generator_.prefill(prompt).save(file_);
  EXPECT_EQ(refusal(), ErrorCode::kInvalidArgument);

  session.save(file_);
  fs::resize_file(file_, fs::file_size(file_) - 1);
  EXPECT_EQ(refusal(), ErrorCode::kCorrupt);

  const auto other_dtype = Model::load(test::smollm2_file(), {.dtype = DType::kBF16});
  Generator other(other_dtype);
  Session elsewhere(other);
  elsewhere.say("Hi", {.max_new_tokens = 2});
  elsewhere.save(file_);
  EXPECT_EQ(refusal(), ErrorCode::kInvalidArgument);

  Session fresh(generator_);
  fresh.say("Hi", {.max_new_tokens = 3});
  EXPECT_EQ(session.say("More", {.max_new_tokens = 3}).ids,
            fresh.say("More", {.max_new_tokens = 3}).ids);
}

TEST_F(SessionFiles, ThereMustBeAConversation) {
  const Session session(generator_);
  EXPECT_EQ(code_of([&] { session.save(file_); }), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(fs::exists(file_));
  Session spoken(generator_);
  spoken.say("Hi", {.max_new_tokens = 2});
  EXPECT_EQ(code_of([&] { spoken.save(file_ / "no" / "such"); }), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace quire
