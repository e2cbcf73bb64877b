// SPDX-License-Identifier: Apache-2.0
// No template hangs, exhausts memory or the stack, leaks, or changes what comes after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/chat.h>
#include <quire/error.h>

#include <string>

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
  EXPECT_EQ(render("{% set n = namespace(i=[] | map('upper')) %}{% set x = n.i | list %}"
                   "{% for i in range(99999) %}{% set n.i = n.i | map('upper') %}"
                   "{% set x = n.i | list %}{% endfor %}ok"),
            "ok");
}

TEST(JinjaLimits, GeneratorsTakeMemory) {
  TemplateLimits limits;
  limits.max_output_bytes = 1'000'000;
  EXPECT_THAT(error_of("{% set n = namespace(i=[]) %}{% for i in range(9999) %}"
                       "{% set n.i = n.i | map('upper') %}{% endfor %}",
                       limits),
              HasSubstr("1000000 bytes"));
}

TEST(JinjaLimits, GeneratorsDoNotRunWithinThemselves) {
  EXPECT_THAT(error_of("{% set n = namespace() %}{% set g = [n] | map(attribute='i') %}"
                       "{% set n.i = g | map('list') %}{{ n.i | list }}"),
              HasSubstr("generator already executing"));
}

TEST(JinjaLimits, FillerTextIsBounded) {
  TemplateLimits limits;
  limits.max_steps = 1000;
  EXPECT_THAT(error_of("{{ lipsum(10 ** 12, false, 1) }}", limits), HasSubstr("1000 steps"));
  limits = {};
  limits.max_output_bytes = 1000;
  EXPECT_THAT(error_of("{{ lipsum(10 ** 12, true, 1) }}", limits), HasSubstr("bytes"));
}

TEST(JinjaLimits, NumbersAtTheEdgeOf64Bits) {
  EXPECT_EQ(render("{{ range(100, 0, -4)[::4611686018427387904] | list }}"), "[100]");
  EXPECT_EQ(render("{{ range(0, 100, 4)[5::4611686018427387904] | list }}"), "[20]");
  EXPECT_EQ(render("{{ range(0, 100, 4)[9:9:4611686018427387904] | length }}"), "0");
  EXPECT_EQ(render("{{ range(9223372036854775806, 9223372036854775807, 5)[:] | list }}"),
            "[9223372036854775806]");
  EXPECT_EQ(render("{{ range(0, 10)[::-3] }}{{ range(0, 10)[2:8:3] }}"),
            "range(9, -1, -3)range(2, 8, 3)");
  const std::string wide = "range(-9223372036854775807, 9223372036854775807, 4611686018427387904)";
  EXPECT_EQ(render("{{ " + wide + "[3] }}"), "4611686018427387905");
  EXPECT_EQ(render("{{ " + wide + "[3:] | list }}"), "[4611686018427387905]");
  EXPECT_THAT(error_of("{{ " + wide + "[::3] | list }}"), HasSubstr("range too big"));
  EXPECT_EQ(render("{{ 'x' | truncate(9223372036854775807) }}"), "x");
  EXPECT_NE(error_of("{{ '%*d' % (-(2 ** 70), 1) }}"), "");
  EXPECT_EQ(render("{{ '%*d|' % (-5, 1) }}"), "1    |");
}

// What is done to a long text or list counts, whatever comes of it.
TEST(JinjaLimits, LongValuesCostSteps) {
  TemplateLimits limits;
  limits.max_steps = 150'000;
  for (const std::string work :
       {"t.find('b')", "t.rfind('b')", "t.count('b')", "t.startswith(t)", "t.isalpha()",
        "t.strip('a')", "t | wordcount", "t | float", "t is lower", "l | last"}) {
    EXPECT_THAT(error_of("{% set t = 'a' * 1000000 %}{% set l = [0] * 100000 %}"
                         "{% for i in range(1000) %}{% set x = " +
                             work + " %}{% endfor %}",
                         limits),
                HasSubstr("150000 steps"))
        << work;
  }
}

// Each of the next four would take minutes to hours if the time grew with the square of a size.
TEST(JinjaLimits, SearchesTakeLinearTime) {
  EXPECT_EQ(render("{% set t = 'a' * 8000000 %}{% set w = ('a' * 4000000) ~ 'b' %}"
                   "{% set v = 'b' ~ ('a' * 4000000) %}"
                   "{{ w in t }} {{ t.find(w) }} {{ t.rfind(v) }} {{ t.count(w) }} "
                   "{{ t.split(w) | length }} {{ t.rsplit(v) | length }} "
                   "{{ t.partition(w)[0] | length }} {{ t.rpartition(v)[0] | length }} "
                   "{{ t.replace(w, '') | length }}"),
            "False -1 -1 0 1 1 8000000 0 8000000");
  EXPECT_EQ(render("{{ ('a' * 2000000).strip(('b' * 2000000) ~ 'a') | length }}"), "0");
  const std::string ab = "{% set a = 'ab' * 100 %}";
  EXPECT_EQ(render(ab + "{% set t = a ~ 'x' ~ a ~ 'y' %}{{ t.rfind(a) }} {{ t.rfind(a ~ 'z') }} "
                        "{{ t.rindex('') }} {{ a.rfind('') }} {{ (a * 3).count('ab' * 50) }}"),
            "201 -1 402 200 6");
  EXPECT_EQ(render(ab + "{% set t = '1' ~ a ~ '22' ~ a ~ '3' ~ a %}{{ t.split(a) }}"
                        "{{ t.rsplit(a) }}{{ t.rsplit(a, 1)[1] }}{{ t.partition(a)[0] }}"),
            "['1', '22', '3', '']['1', '22', '3', '']1");
  EXPECT_EQ(render("{{ 'xyxaéyx'.strip('xyé') }}|{{ 'éaé'.rstrip('é') }}|"
                   "{{ '  a '.strip('') }}"),
            "a|éa|  a ");
}

TEST(JinjaLimits, WrappingAndLinkingTakeLinearTime) {
  EXPECT_EQ(render("{{ ('a' * 2000000) | wordwrap(1) | length }}"), "3999999");
  EXPECT_EQ(render("{{ ('-' * 2000000) | wordwrap(2) | length }}"), "2999999");
  EXPECT_EQ(render("{{ ('--a--bb-c' * 2) | wordwrap(4) }}"), "--a\n--\nbb-c\n--a\n--\nbb-c");
  EXPECT_EQ(render("{{ ('aé-b' * 2) | wordwrap(3) }}|{{ ('-' * 5) | wordwrap(2) }}"),
            "aé-\nbaé\n-b|--\n--\n-");
  EXPECT_EQ(render("{{ ('a' ~ ('(' * 4000000) ~ (')' * 4000000)) | urlize | length }}"), "8000001");
  EXPECT_EQ(render("{{ 'a((<<b>>))>))' | urlize }}{{ '(((a)))b' | urlize }}"),
            "a((&lt;&lt;b&gt;&gt;))&gt;))(((a)))b");
}

TEST(JinjaLimits, LongNumbersAreCheapOrRefused) {
  EXPECT_EQ(render("{% set b = 2 ** 63999 %}{% for i in range(50000) %}{% if b in {} %}x{% endif %}"
                   "{% endfor %}ok"),
            "ok");
  EXPECT_EQ(render("{% set d = {1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 2 ** 70: 'x'} %}"
                   "{{ d[2 ** 70] }}{{ d[2.0 ** 70] }}{{ d.get(-(2 ** 70)) }}"),
            "xxNone");
  EXPECT_EQ(render("{{ '%x' % (2 ** 100 + 5) }} {{ '%o' % (2 ** 65) }} {{ 10 ** 40 }} "
                   "{{ '{:b}'.format(2 ** 70) }}"),
            "10000000000000000000000005 4000000000000000000000 1" + std::string(40, '0') + " 1" +
                std::string(70, '0'));
  EXPECT_THAT(error_of("{{ [1] | map(attribute='9' * 10000000) | list }}"),
              HasSubstr("4300 digits"));
  EXPECT_EQ(render("{{ [[1, 2]] | map(attribute='1') | list }}"), "[2]");
  for (const char* source : {"{{ ('{0[' ~ ('9' * 10000000) ~ ']}').format([1]) }}",
                             "{{ ('{' ~ ('9' * 10000000) ~ '}').format(1) }}",
                             "{{ '{0[99999999999999999999]}'.format([1]) }}"}) {
    EXPECT_THAT(error_of(source), HasSubstr("Too many decimal digits"));
  }
  EXPECT_EQ(render("{{ '{0[1]}{0[0]}{1}{2[12x]}'.format([1, 2], 3, {'12x': 5}) }}"), "2135");
}

TEST(JinjaLimits, NamesGivenTwiceAreFoundInLinearTime) {
  std::string keywords;
  std::string blocks;
  for (int i = 0; i < 300'000; ++i) {
    keywords += "a" + std::to_string(i) + "=1, ";
    blocks += "{% block b" + std::to_string(i) + " %}{% endblock %}";
  }
  EXPECT_THAT(error_of("{{ f(" + keywords + "a7=1) }}"),
              HasSubstr("keyword argument repeated: a7"));
  EXPECT_THAT(error_of(blocks + "{% block b7 %}{% endblock %}"),
              HasSubstr("block 'b7' defined twice"));
  EXPECT_EQ(render("{% set d = dict.fromkeys(range(60000) | map('string')) %}"
                   "{% macro m() %}{{ kwargs | length }}{% endmacro %}{% for i in range(20) %}"
                   "{% if m(**d) != '60000' %}no{% endif %}{% endfor %}ok"),
            "ok");
  const std::string macro = "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}";
  EXPECT_EQ(render(macro + "{{ m(a=1, **{'b': 2}) }}"), "12");
  EXPECT_THAT(error_of(macro + "{{ m(a=1, **{'a': 2}) }}"),
              HasSubstr("multiple values for keyword argument 'a'"));
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
