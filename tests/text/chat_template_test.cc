// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/chat.h>
#include <quire/error.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace quire {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ChatTemplateFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("quire_chat_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::shared_ptr<const ChatTemplate> load() const { return ChatTemplate::load(folder_); }
  std::string error() const {
    try {
      const Message hi{"user", "hi"};
      load()->render({&hi, 1});
    } catch (const Error& e) {
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return {};
  }

  fs::path folder_;
};

std::string render(const ChatTemplate& chat, const std::vector<Message>& messages,
                   const RenderOptions& options = {}) {
  return chat.render(messages, options);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST_F(ChatTemplateFiles, NoneIsNull) {
  write("tokenizer_config.json", "{}");
  EXPECT_EQ(load(), nullptr);
}

TEST_F(ChatTemplateFiles, TextInTheConfig) {
  write("tokenizer_config.json",
        R"({"chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}",
            "bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}})");
  EXPECT_EQ(render(*load(), {{"user", "hi"}}), "<s>hi</s>");
}

TEST_F(ChatTemplateFiles, TokensOfTheMapFillGaps) {
  write("tokenizer_config.json", R"({"chat_template": "{{ bos_token }}{{ pad_token }}",
                                     "bos_token": "<s>"})");
  write("special_tokens_map.json", R"({"bos_token": "no", "pad_token": {"content": "<pad>"}})");
  EXPECT_EQ(render(*load(), {{"user", "hi"}}), "<s><pad>");
}

TEST_F(ChatTemplateFiles, TheFileWinsOverTheConfig) {
  write("tokenizer_config.json", R"({"chat_template": "old", "bos_token": "<s>"})");
  write("chat_template.jinja", "new{{ bos_token }}\n");
  EXPECT_EQ(render(*load(), {{"user", "hi"}}), "new<s>");
}

TEST_F(ChatTemplateFiles, ToolsChooseTheirTemplate) {
  RenderOptions with_tools;
  with_tools.tools_json = R"([{"type": "function"}])";
  write("tokenizer_config.json",
        R"({"chat_template": [{"name": "default", "template": "plain"},
                              {"name": "tool_use", "template": "tools"}]})");
  EXPECT_EQ(render(*load(), {{"user", "hi"}}), "plain");
  EXPECT_EQ(render(*load(), {{"user", "hi"}}, with_tools), "tools");
  write("chat_template.jinja", "file");
  write("additional_chat_templates/tool_use.jinja", "file with tools");
  EXPECT_EQ(render(*load(), {{"user", "hi"}}), "file");
  EXPECT_EQ(render(*load(), {{"user", "hi"}}, with_tools), "file with tools");
}

TEST_F(ChatTemplateFiles, WhatIsWrongIsNamed) {
  write("tokenizer_config.json", R"({"chat_template": 7})");
  EXPECT_THAT(error(), HasSubstr("chat_template"));
  write("tokenizer_config.json", R"({"chat_template": [{"name": "default"}]})");
  EXPECT_THAT(error(), HasSubstr("template is no text"));
  write("tokenizer_config.json", R"({"chat_template": {"rag": "a", "tool_use": "b"}})");
  EXPECT_THAT(error(), HasSubstr("'default'"));
  write("chat_template.jinja", "a\xff");
  EXPECT_THAT(error(), HasSubstr("chat_template.jinja"));
}

// Broken templates are refused with a message that helps; odd ones render.
TEST_F(ChatTemplateFiles, MalformedOnes) {
  std::ifstream file(std::string(QUIRE_TEST_DATA) + "/templates/malformed.json");
  for (const auto& entry : nlohmann::ordered_json::parse(file)) {
    SCOPED_TRACE(entry.at("name").get<std::string>() + ": " + entry.at("what").get<std::string>());
    TearDown();
    for (const auto& [name, text] : entry.at("files").items()) write(name, text);
    std::vector<Message> messages;
    for (const auto& m : entry.at("messages")) messages.push_back({"", "", m.dump()});
    RenderOptions options;
    options.add_generation_prompt = entry.at("add_generation_prompt").get<bool>();
    std::string text;
    std::string problem;
    try {
      const auto chat = load();
      if (chat == nullptr) throw Error(ErrorCode::kNotFound, "chat_template", "there is none");
      text = chat->render(messages, options);
    } catch (const Error& e) {
      problem = e.what();
    }
    if (entry.contains("expected")) {
      EXPECT_EQ(problem, "");
      EXPECT_EQ(text, entry.at("expected").get<std::string>());
    } else {
      EXPECT_NE(problem, "") << "rendered " << text;
      if (!entry.at("must_mention").is_null()) {
        EXPECT_THAT(lower(problem), HasSubstr(lower(entry.at("must_mention").get<std::string>())));
      }
    }
  }
}

std::string rendered(const std::string& source, const std::vector<Message>& messages,
                     const RenderOptions& options = {}) {
  return ChatTemplate::parse(source)->render(messages, options);
}

TEST(ChatTemplate, KeysOfMessages) {
  EXPECT_EQ(rendered("{{ messages }}", {{"user", "a"}}), "[{'role': 'user', 'content': 'a'}]");
  // The fields' own keys, in their order; null ones are dropped.
  EXPECT_EQ(rendered("{{ messages }}",
                     {{"x", "y", R"({"content": null, "n": {"k": null}, "role": "user"})"}}),
            "[{'n': {'k': None}, 'role': 'user'}]");
  EXPECT_EQ(rendered("{{ messages }}", {{"user", "a", R"({"name": "n"})"}}),
            "[{'role': 'user', 'content': 'a', 'name': 'n'}]");
}

TEST(ChatTemplate, ReasoningHasThreeNames) {
  const std::string source = "{{ messages[0].reasoning_content }}|{{ messages[0].thinking }}";
  EXPECT_EQ(rendered(source, {{"", "", R"({"reasoning": "r"})"}}), "r|r");
  EXPECT_EQ(rendered(source, {{"", "", R"({"thinking": "t", "reasoning_content": "c"})"}}), "c|t");
}

TEST(ChatTemplate, ContinuesTheFinalMessage) {
  RenderOptions options;
  options.continue_final_message = true;
  const std::string plain = "{% for m in messages %}<{{ m.content }}>\n{% endfor %}end";
  EXPECT_EQ(rendered(plain, {{"user", "a"}, {"assistant", "b "}}, options), "<a>\n<b ");
  const std::string trimmed = "{% for m in messages %}<{{ m.content | trim }}>\n{% endfor %}end";
  EXPECT_EQ(rendered(trimmed, {{"user", "a"}, {"assistant", "b "}}, options), "<a>\n<b");
  EXPECT_THROW(rendered("content", {{"user", "a"}}, options), Error);
  EXPECT_THROW(rendered(plain, {}, options), Error);
  options.add_generation_prompt = true;
  EXPECT_THROW(rendered(plain, {{"user", "a"}}, options), Error);
}

// It would take minutes if the time grew with the product of the two lengths.
TEST(ChatTemplate, LooksForTheFinalMessageInLinearTime) {
  RenderOptions options;
  options.continue_final_message = true;
  const std::string source =
      "{{ 'a' * 8000000 }}CONTINUE_FINAL_MESSAGE_TAG {{ messages | length }}";
  EXPECT_THROW(rendered(source, {{"user", std::string(4'000'000, 'a') + "b"}}, options), Error);
}

TEST(ChatTemplate, RefusesJsonThatIsNone) {
  RenderOptions options;
  options.tools_json = "[1, 2";
  EXPECT_THROW(rendered("x", {{"user", "a"}}, options), Error);
  options.tools_json = R"({"a": 1})";
  EXPECT_THROW(rendered("x", {{"user", "a"}}, options), Error);
  EXPECT_THROW(ChatTemplate::parse("x")->render_raw("[]"), Error);
  EXPECT_THROW(rendered("x", {{"user", "a", "[]"}}), Error);
}

fs::path model_folder(const std::string& name) {
  const char* home = std::getenv("QUIRE_HOME");
  const fs::path base =
      home != nullptr ? fs::path(home) : fs::path(std::getenv("HOME")) / ".cache" / "quire";
  return base / "models" / name;
}

TEST(ChatTemplate, OfThePackagedModel) {
  std::string gguf;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(model_folder("smollm2"), none)) {
    if (entry.path().extension() == ".gguf") gguf = entry.path();
  }
  ASSERT_NE(gguf, "") << "run: quire pull smollm2";
  const auto chat = ChatTemplate::load(gguf);
  ASSERT_NE(chat, nullptr);
  std::ifstream file(std::string(QUIRE_TEST_DATA) + "/templates/smollm2_chat.json");
  for (const auto& c : nlohmann::ordered_json::parse(file)) {
    std::vector<Message> messages;
    for (const auto& m : c.at("messages")) messages.push_back({"", "", m.dump()});
    RenderOptions options;
    options.add_generation_prompt = c.at("add_generation_prompt").get<bool>();
    EXPECT_EQ(chat->render(messages, options), c.at("rendered").get<std::string>());
  }
}

}  // namespace
}  // namespace quire
