// SPDX-License-Identifier: Apache-2.0
// No template hangs, exhausts memory or the stack, leaks, or changes what comes after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/chat.h>
#include <quire/error.h>

namespace quire {
namespace {

using ::testing::HasSubstr;

// The error's message; a test failure and "" when there is none.
std::string error_of(const std::string& source, const TemplateLimits& limits = {}) {
  try {
    TemplateOptions options;
    options.limits = limits;
    const std::string text = ChatTemplate::parse(source, options)->render_raw("{}");
    ADD_FAILURE() << "rendered " << text.substr(0, 100) << " from " << source.substr(0, 100);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTemplate) << error.what();
    return error.what();
  }
  return {};
}

std::string render(const std::string& source, const TemplateLimits& limits = {}) {
  TemplateOptions options;
  options.limits = limits;
  return ChatTemplate::parse(source, options)->render_raw("{}");
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(JinjaLimits, StepsEndLoops) {
  TemplateLimits limits;
  limits.max_steps = 10'000;
  EXPECT_THAT(
      error_of("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
               limits),
      HasSubstr("10000 steps"));
  EXPECT_THAT(error_of("{{ range(99999) | map('string') | map('upper') | list | length }}", limits),
              HasSubstr("steps"));
  EXPECT_EQ(render("{% for a in range(1000) %}{% endfor %}ok", limits), "ok");
}

TEST(JinjaLimits, MemoryEndsGrowth) {
  for (const char* source :
       {"{{ 'a' * 10 ** 9 }}", "{{ [0] * 10 ** 9 }}", "{{ (1, 2) * 2 ** 62 }}",
        "{{ 'ab'.center(10 ** 10) }}", "{{ 'a' | indent(10 ** 10, true) }}",
        "{{ '%10000000000d' % 1 }}", "{{ '{:10000000000}'.format(1) }}",
        "{{ 'x'.zfill(10 ** 10) }}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}"
        "{% endfor %}{{ n.s | length }}",
        "{% set n = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}"
        "{% endfor %}",
        "{% set n = namespace(s='xx') %}{% for i in range(60) %}"
        "{% set n.s = n.s.replace('x', n.s) %}{% endfor %}",
        "{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor "
        "%}",
        "{% set n = namespace(s=[1]) %}{% for i in range(60) %}{% set n.s = [n.s, n.s] %}"
        "{% endfor %}{{ n.s }}",
        "{% macro m() %}{{ 'x' * 10 ** 6 }}{{ m() }}{% endmacro %}{{ m() }}",
        "{{ 10 ** (10 ** 10) }}", "{{ 7 ** 1000000 }}"}) {
    EXPECT_NE(error_of(source), "") << source;
  }
}

TEST(JinjaLimits, OutputIsBounded) {
  TemplateLimits limits;
  limits.max_output_bytes = 100'000;
  EXPECT_THAT(error_of("{% for i in range(9999) %}{{ 'x' * 100 }}{% endfor %}", limits),
              HasSubstr("100000 bytes"));
  EXPECT_EQ(render("{{ 'x' * 40000 }}", limits).size(), 40'000u);
}

TEST(JinjaLimits, DepthEndsRecursion) {
  EXPECT_THAT(error_of("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}"),
              HasSubstr("levels deep"));
  EXPECT_THAT(error_of("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"),
              HasSubstr("levels deep"));
  EXPECT_NE(error_of("{% macro a() %}{{ caller() }}{% endmacro %}"
                     "{% macro b() %}{% call a() %}{{ b() }}{% endcall %}{% endmacro %}{{ b() }}"),
            "");
  EXPECT_THAT(error_of("{% block a %}{{ self.a() }}{% endblock %}"), HasSubstr("levels deep"));
  // A value nested deeper than anything can print.
  EXPECT_NE(error_of("{% set n = namespace(v=[]) %}{% for i in range(9999) %}"
                     "{% set n.v = [n.v] %}{% endfor %}{{ n.v }}"),
            "");
  EXPECT_NE(error_of("{% set n = namespace(v=[]) %}{% for i in range(9999) %}"
                     "{% set n.v = [n.v] %}{% endfor %}{{ n.v | tojson }}"),
            "");
  EXPECT_NE(error_of("{% set n = namespace(v=['a']) %}{% for i in range(9999) %}"
                     "{% set n.v = n.v | map('upper') %}{% endfor %}{{ n.v | list }}"),
            "");
}

TEST(JinjaLimits, NestingOfTheSourceIsBounded) {
  for (const std::string& source :
       {"{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}",
        "{{ " + repeated("[", 5000) + repeated("]", 5000) + " }}",
        "{{ " + repeated("{1:", 5000) + "1" + repeated("}", 5000) + " }}",
        "{{ 0 " + repeated("-", 20000) + "1 }}", "{{ " + repeated("not ", 20000) + "1 }}",
        "{{ 1" + repeated(" + 1", 20000) + " }}", "{{ x" + repeated(".y", 20000) + " }}",
        "{{ x" + repeated(" | upper", 20000) + " }}", "{{ x" + repeated("()", 20000) + " }}",
        "{{ x" + repeated(" if x else x", 20000) + " }}",
        "{{ f(" + repeated("f(", 5000) + repeated(")", 5001) + " }}",
        repeated("{% if true %}", 1000) + "x" + repeated("{% endif %}", 1000),
        repeated("{% for x in [1] %}", 1000) + repeated("{% endfor %}", 1000),
        repeated("{% macro m() %}", 1000) + repeated("{% endmacro %}", 1000)}) {
    EXPECT_NE(error_of(source), "") << source.substr(0, 40);
  }
  EXPECT_EQ(render("{{ " + repeated("(", 90) + "1" + repeated(")", 90) + " }}"), "1");
}

// Under a leak checker these fail when a cycle is left behind; without one they must just end.
TEST(JinjaLimits, CyclesAreTakenApart) {
  EXPECT_EQ(render("{% set n = namespace() %}{% set n.me = n %}{% set n.l = [n] %}ok"), "ok");
  EXPECT_EQ(
      render("{% macro m() %}{{ m.name }}{% endmacro %}{% set n = namespace(m=m) %}{{ m() }}"),
      "m");
  EXPECT_EQ(render("{% for x in [1] %}{{ loop.changed(loop) }}{% set l = loop %}{% endfor %}"),
            "True");
  EXPECT_NE(error_of("{% set n = namespace() %}{% set n.me = n %}{{ n.me.me.nothing.x }}"), "");
}

// A chain too long to be destroyed from within itself.
TEST(JinjaLimits, LongChainsAreFreed) {
  EXPECT_EQ(render("{% set n = namespace(v=none) %}{% for i in range(50000) %}"
                   "{% set n.v = [n.v] %}{% endfor %}ok"),
            "ok");
  EXPECT_EQ(render("{% set n = namespace(v=none) %}{% for i in range(50000) %}"
                   "{% set n.v = namespace(p=n.v) %}{% endfor %}ok"),
            "ok");
}

TEST(JinjaLimits, TheTemplateStaysUsable) {
  TemplateOptions options;
  options.limits.max_steps = 1000;
  const auto chat = ChatTemplate::parse("{% for i in range(n) %}{{ i }}{% endfor %}", options);
  EXPECT_THROW(chat->render_raw(R"({"n": 5000})"), Error);
  EXPECT_EQ(chat->render_raw(R"({"n": 3})"), "012");
}

TEST(JinjaLimits, ForbiddenThingsSayWhatTheyAre) {
  EXPECT_THAT(error_of("{{ ''.__class__.__mro__ }}"), HasSubstr("__class__"));
  EXPECT_THAT(error_of("{{ [].append(1) }}"), HasSubstr("append"));
  EXPECT_THAT(error_of("{{ range(10 ** 9) }}"), HasSubstr("range"));
  EXPECT_THAT(error_of("a\n\n{{ 1 | nosuch }}"), HasSubstr("line 3: no filter named 'nosuch'"));
}

}  // namespace
}  // namespace quire
