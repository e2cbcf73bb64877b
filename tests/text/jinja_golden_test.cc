// SPDX-License-Identifier: Apache-2.0
// Every case of tests/data/templates: texts and errors of the reference.
#include <gtest/gtest.h>
#include <quire/chat.h>
#include <quire/error.h>

#include <optional>

#include "tests/text/jinja_data.h"

namespace quire {
namespace {

const Value& golden() {
  static const Value data = read("templates.json");
  return data;
}

struct Outcome {
  std::string text;
  std::optional<std::string> error;
  bool compiled = false;
};

template <typename Render>
Outcome run(const std::string& source, const TemplateOptions& options, Render render) {
  Outcome outcome;
  try {
    const auto chat = ChatTemplate::parse(source, options);
    outcome.compiled = true;
    outcome.text = render(*chat);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTemplate) << error.what();
    outcome.error = error.what();
  }
  return outcome;
}

void check(const Value& expected, const Outcome& outcome) {
  if (const Value* text = expected.as_dict().find("expected")) {
    EXPECT_EQ(outcome.error, std::nullopt);
    EXPECT_EQ(outcome.text, text->as_string());
    return;
  }
  const Value& error = at(expected, "error");
  ASSERT_TRUE(outcome.error.has_value()) << "rendered: " << outcome.text;
  EXPECT_EQ(outcome.compiled, text_at(error, "kind") != "syntax") << *outcome.error;
  if (text_at(error, "kind") == "raised") {
    EXPECT_EQ(outcome.error, text_at(error, "message"));
  }
}

TEST(JinjaGolden, SmallTemplates) {
  std::size_t cases = 0;
  for (const Value& entry : at(golden(), "templates").as_list()) {
    for (const Value& c : at(entry, "cases").as_list()) {
      const std::string context = json_at(c, "context");
      SCOPED_TRACE(text_at(entry, "name") + " " + context);
      check(c, run(text_at(entry, "template"), {}, [&context](const ChatTemplate& chat) {
              return chat.render_raw(context, moment(golden()));
            }));
      ++cases;
    }
  }
  EXPECT_GT(cases, 450u);
}

TEST(JinjaGolden, Snippets) {
  const Value data = read("snippets.json");
  const std::string context = json_at(data, "context");
  const std::tm now = moment(data);
  for (const Value& c : at(data, "cases").as_list()) {
    SCOPED_TRACE(text_at(c, "template"));
    check(c, run(text_at(c, "template"), {},
                 [&](const ChatTemplate& chat) { return chat.render_raw(context, now); }));
  }
  EXPECT_GT(at(data, "cases").as_list().size(), 1500u);
}

std::optional<std::string> text_or_none(const Value& value) {
  if (value.is_none()) return std::nullopt;
  return value.as_string();
}

std::string render_chat(const ChatTemplate& chat, const Value& c) {
  std::vector<Message> messages;
  for (const Value& m : at(c, "messages").as_list()) {
    messages.push_back({"", "", jinja::dump_json(m, {})});
  }
  RenderOptions options;
  options.tools_json = json_at(c, "tools");
  options.kwargs_json = json_at(c, "kwargs");
  options.add_generation_prompt = at(c, "add_generation_prompt").as_bool();
  options.now = moment(golden());
  return chat.render(messages, options);
}

TEST(JinjaGolden, ChatFormats) {
  for (const Value& entry : at(golden(), "chat_templates").as_list()) {
    TemplateOptions options;
    options.bos_token = text_or_none(at(entry, "bos_token"));
    options.eos_token = text_or_none(at(entry, "eos_token"));
    for (const Value& c : at(entry, "cases").as_list()) {
      SCOPED_TRACE(text_at(entry, "name") + " " + text_at(c, "name"));
      check(c, run(text_at(entry, "template"), options,
                   [&c](const ChatTemplate& chat) { return render_chat(chat, c); }));
    }
  }
}

}  // namespace
}  // namespace quire
