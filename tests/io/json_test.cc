// SPDX-License-Identifier: Apache-2.0
#include "io/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace quire {
namespace {

using ::testing::HasSubstr;

// The message of the error that `action` must throw, after its code: "Corrupt a.json: …".
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ' ' + error.what();
  }
  return "no error";
}

std::string parse_error(std::string_view text, int max_depth = 100) {
  return error_of([&] { parse_json(text, "a.json", max_depth); });
}

TEST(ParseJson, KeepsEveryKindOfValue) {
  const Json json = parse_json(
      " {\"a\": [1, -2, 18446744073709551615, 0.5, true, false, null], \"b\": {\"\": "
      "\"\\u00e9\\n🦙\"}}\n",
      "a.json");
  EXPECT_EQ(json.at("a").at(0), 1);
  EXPECT_EQ(json.at("a").at(1), -2);
  EXPECT_EQ(json.at("a").at(2).get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(json.at("a").at(3), 0.5);
  EXPECT_EQ(json.at("a").at(4), true);
  EXPECT_TRUE(json.at("a").at(6).is_null());
  EXPECT_EQ(json.at("b").at(""), "\xC3\xA9\n🦙");
  EXPECT_EQ(parse_json("3", "a.json"), 3);
  EXPECT_EQ(parse_json("[[],{}]", "a.json").dump(), "[[],{}]");
}

TEST(ParseJson, AgreesWithThePlainParser) {
  const std::string text =
      R"({"x":[{"y":[[1,2],[3,{"z":[]}]],"w":"v"},7],"k":{"l":{"m":1e3}},"n":-0.25,"o":""})";
  EXPECT_EQ(parse_json(text, "a.json"), Json::parse(text));
}

TEST(ParseJson, SaysWhereItWentWrong) {
  EXPECT_THAT(parse_error(""), HasSubstr("Corrupt a.json: invalid JSON at byte 0"));
  EXPECT_THAT(parse_error("{\"a\":1,}"), HasSubstr("at byte 7"));
  EXPECT_THAT(parse_error("{\"a\" 1}"), HasSubstr("at byte 5"));
  EXPECT_THAT(parse_error("{'a':1}"), HasSubstr("at byte 1"));
  EXPECT_THAT(parse_error("[1] // note"), HasSubstr("at byte 4"));
  EXPECT_THAT(parse_error("{} {}"), HasSubstr("at byte 3"));
  EXPECT_THAT(parse_error("[1, 2"), HasSubstr("unexpected end of input"));
  EXPECT_THAT(parse_error("NaN"), HasSubstr("at byte 0"));
  EXPECT_THAT(parse_error("[1e999]"), HasSubstr("invalid JSON"));
}

TEST(ParseJson, RefusesWhatIsNoText) {
  EXPECT_THAT(parse_error(std::string_view("{}\0{}", 5)), HasSubstr("at byte 2: a zero byte"));
  EXPECT_THAT(parse_error("\xEF\xBB\xBF{}"), HasSubstr("at byte 0: a byte order mark"));
  EXPECT_THAT(parse_error("{\"a\xFF\":1}"), HasSubstr("UTF-8"));
  EXPECT_THAT(parse_error("[\"\xC0\x80\"]"), HasSubstr("UTF-8"));
  EXPECT_THAT(parse_error("[\"\xED\xA0\x80\"]"), HasSubstr("UTF-8"));
  EXPECT_THAT(parse_error(R"(["\ud800"])"), HasSubstr("surrogate"));
  EXPECT_THAT(parse_error("[\"a\nb\"]"), HasSubstr("control character"));
}

TEST(ParseJson, RefusesDuplicateKeysAtAnyDepth) {
  EXPECT_THAT(parse_error(R"({"a":1,"b":{"c":1,"c":2}})"), HasSubstr("duplicate key \"c\""));
  EXPECT_THAT(parse_error(R"({"a":1, "a":1})"), HasSubstr("at byte 10: duplicate key \"a\""));
  EXPECT_EQ(parse_json(R"([{"a":1},{"a":2}])", "a.json").size(), 2u);
}

TEST(ParseJson, BoundsDepth) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_NO_THROW(parse_json(nested(100), "a.json"));
  EXPECT_THAT(parse_error(nested(101)), HasSubstr("at byte 100: nested deeper than 100"));
  EXPECT_THAT(parse_error(nested(1'000'000)), HasSubstr("nested deeper"));
  EXPECT_THAT(parse_error("{\"a\":{\"b\":1}}", 1), HasSubstr("nested deeper than 1"));
}

TEST(ParseJsonMembers, HandsOverEachMember) {
  std::vector<std::pair<std::string, Json>> members;
  parse_json_members(
      R"({"a":{"x":[1,{"y":2}]},"b":3,"a":null,"c":[]})", "a.json",
      [&](const std::string& key, Json value) { members.emplace_back(key, std::move(value)); });
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(members[0].first, "a");
  EXPECT_EQ(members[0].second.dump(), R"({"x":[1,{"y":2}]})");
  EXPECT_EQ(members[1].second, 3);
  EXPECT_TRUE(members[2].second.is_null());
  EXPECT_EQ(members[3].second, Json::array());
}

TEST(ParseJsonMembers, RefusesWhatParseJsonRefuses) {
  const auto error = [](std::string_view text) {
    return error_of([&] {
      parse_json_members(
          text, "a.json", [](const std::string&, Json) {}, 3);
    });
  };
  EXPECT_THAT(error("[1]"), HasSubstr("at byte 0: expected an object"));
  EXPECT_THAT(error("7"), HasSubstr("expected an object"));
  EXPECT_THAT(error("{} x"), HasSubstr("at byte 3"));
  EXPECT_THAT(error(R"({"a":{"b":{"c":1,"c":2}}})"), HasSubstr("duplicate key \"c\" in a.b"));
  EXPECT_THAT(error(R"({"a":[[[]]]})"), HasSubstr("deeper than 3"));
  EXPECT_EQ(error("{}"), "no error");
}

TEST(QuoteNonFinite, TouchesOnlyValues) {
  EXPECT_EQ(quote_non_finite(R"({"a":NaN,"b":[Infinity,-Infinity,-1],"NaN":"Infinity"})"),
            R"({"a":"NaN","b":["Infinity","-Infinity",-1],"NaN":"Infinity"})");
  EXPECT_EQ(quote_non_finite(R"({"a":"\" NaN","b":"\\",NaN)"), R"({"a":"\" NaN","b":"\\","NaN")");
  EXPECT_EQ(quote_non_finite("\"\\"), "\"\\");
  EXPECT_EQ(quote_non_finite(""), "");
}

TEST(ParseJson, NamesTheContainerOfADuplicate) {
  EXPECT_THAT(parse_error(R"({"a":[0,{"b":{"c":1,"c":2}}]})"),
              HasSubstr("duplicate key \"c\" in a.1.b"));
}

TEST(ParseJson, MessagesAreValidUtf8) {
  for (const std::string_view text : {"{\"a\":\xFF", "\xFF\xFE{", "[\"\xF0\x9F\"]", "\xC3"}) {
    const std::string message = parse_error(text);
    EXPECT_NO_THROW((void)Json(message).dump()) << message;
  }
}

TEST(ReadJsonFile, NamesTheFile) {
  const std::filesystem::path folder = ::testing::TempDir();
  EXPECT_THAT(error_of([&] { read_json_file(folder / "absent.json"); }), HasSubstr("NotFound"));
  EXPECT_THAT(error_of([&] { read_json_file(folder); }), HasSubstr("directory"));
  const std::filesystem::path file = folder / "quire_json_test.json";
  std::ofstream(file) << "{\"a\": 3}";
  EXPECT_EQ(read_json_file(file).at("a"), 3);
  std::ofstream(file) << "{\"a\": 3";
  EXPECT_THAT(error_of([&] { read_json_file(file); }), HasSubstr(file.native()));
  std::filesystem::remove(file);
}

class JsonObjectTest : public ::testing::Test {
 protected:
  const Json json_ = parse_json(
      R"({"int":3,"whole":4.0,"half":3.5,"text":"x","yes":true,"none":null,"big":18446744073709551615,
          "inner":{"list":[1]}})",
      "c.json");
  const JsonObject object_{json_, "c.json"};
};

TEST_F(JsonObjectTest, ReadsWhatIsThere) {
  EXPECT_EQ(object_.integer("int"), 3);
  EXPECT_EQ(object_.integer("whole"), 4);
  EXPECT_EQ(object_.number("int"), 3.0);
  EXPECT_EQ(object_.number("half"), 3.5);
  EXPECT_EQ(object_.string("text"), "x");
  EXPECT_TRUE(object_.boolean("yes"));
  EXPECT_EQ(object_.object("inner").at("list").size(), 1u);
}

TEST_F(JsonObjectTest, TakesNullForAbsent) {
  EXPECT_FALSE(object_.has("none"));
  EXPECT_FALSE(object_.has("nothing"));
  EXPECT_EQ(object_.integer_or("none", 7), 7);
  EXPECT_EQ(object_.integer_or("int", 7), 3);
  EXPECT_EQ(object_.number_or("nothing", 0.5), 0.5);
  EXPECT_TRUE(object_.boolean_or("nothing", true));
  EXPECT_EQ(object_.string_or("nothing", "z"), "z");
  EXPECT_FALSE(object_.object_if("none").has_value());
  EXPECT_TRUE(object_.object_if("inner").has_value());
}

TEST_F(JsonObjectTest, NamesKeyExpectedAndFound) {
  EXPECT_EQ(error_of([&] { (void)object_.integer("text"); }),
            "Corrupt c.json: text: expected an integer, found \"x\"");
  EXPECT_EQ(error_of([&] { (void)object_.integer("half"); }),
            "Corrupt c.json: half: expected an integer, found 3.5");
  EXPECT_THAT(error_of([&] { (void)object_.integer("big"); }), HasSubstr("18446744073709551615"));
  EXPECT_EQ(error_of([&] { (void)object_.integer("none"); }), "Corrupt c.json: none: is null");
  EXPECT_EQ(error_of([&] { (void)object_.integer("gone"); }), "Corrupt c.json: gone: is missing");
  EXPECT_EQ(error_of([&] { (void)object_.number("inner"); }),
            "Corrupt c.json: inner: expected a number, found object");
  EXPECT_THAT(error_of([&] { (void)object_.boolean("int"); }), HasSubstr("true or false"));
  EXPECT_THAT(error_of([&] { (void)object_.string("int"); }), HasSubstr("expected a string"));
  EXPECT_EQ(error_of([&] { (void)object_.object("text"); }),
            "Corrupt c.json: text: expected an object, found \"x\"");
  EXPECT_EQ(error_of([&] { (void)object_.object("inner").integer("list"); }),
            "Corrupt c.json: inner.list: expected an integer, found array");
  EXPECT_EQ(error_of([&] { (void)object_.integer_or("text", 1); }),
            "Corrupt c.json: text: expected an integer, found \"x\"");
}

}  // namespace
}  // namespace quire
