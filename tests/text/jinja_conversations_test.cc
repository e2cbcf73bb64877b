// SPDX-License-Identifier: Apache-2.0
// Whole templates over conversations, tools and documents: what transformers renders.
#include <gtest/gtest.h>
#include <quire/chat.h>
#include <quire/error.h>

#include "tests/text/jinja_data.h"

namespace quire {
namespace {

std::string optional_json(const Value& object, std::string_view key) {
  return object.as_dict().find(key) == nullptr ? std::string() : json_at(object, key);
}

bool flag(const Value& object, std::string_view key) {
  const Value* value = object.as_dict().find(key);
  return value != nullptr && value->as_bool();
}

std::string render(const ChatTemplate& chat, const Value& conversation, const Value& variant,
                   const std::tm& now) {
  std::vector<Message> messages;
  for (const Value& m : conversation.as_list()) {
    messages.push_back({"", "", jinja::dump_json(m, {})});
  }
  RenderOptions options;
  options.tools_json = optional_json(variant, "tools");
  options.documents_json = optional_json(variant, "documents");
  options.kwargs_json = optional_json(variant, "kwargs");
  options.add_generation_prompt = flag(variant, "add_generation_prompt");
  options.continue_final_message = flag(variant, "continue_final_message");
  options.now = now;
  return chat.render(messages, options);
}

TEST(JinjaConversations, RenderAsTransformersDoes) {
  const Value data = read("conversations.json");
  const std::tm now = moment(data);
  TemplateOptions options;
  options.bos_token = "<s>";
  options.eos_token = "</s>";
  std::size_t errors = 0;
  for (const Value& c : at(data, "cases").as_list()) {
    const std::string& name = text_at(c, "template");
    const std::string& conversation = text_at(c, "conversation");
    const std::string& variant = text_at(c, "variant");
    SCOPED_TRACE(name + ", " + conversation + ", " + variant);
    const auto chat = ChatTemplate::parse(text_at(at(data, "templates"), name), options);
    const Value* expected = c.as_dict().find("expected");
    try {
      const std::string text = render(*chat, at(at(data, "conversations"), conversation),
                                      at(at(data, "variants"), variant), now);
      ASSERT_NE(expected, nullptr) << "rendered: " << text;
      EXPECT_EQ(text, expected->as_string());
    } catch (const Error& error) {
      ASSERT_EQ(expected, nullptr) << error.what();
      ++errors;
      if (text_at(at(c, "error"), "kind") == "raised") {
        EXPECT_EQ(error.what(), text_at(at(c, "error"), "message"));
      }
    }
  }
  EXPECT_GT(errors, 50u);
  EXPECT_GE(at(data, "cases").as_list().size(), 300u);
}

}  // namespace
}  // namespace quire
