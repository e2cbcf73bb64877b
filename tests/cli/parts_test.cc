// SPDX-License-Identifier: Apache-2.0
// The program's own parts that no result shows well: its JSON access and its SHA-256.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "examples/cli/json.h"
#include "examples/cli/sha256.h"
#include "tests/cli/run_program.h"

namespace cli {
namespace {

std::string sha256(const std::string& text, std::size_t piece) {
  Sha256 hash;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  for (std::size_t at = 0; at < text.size(); at += piece) {
    hash.add({bytes + at, std::min(piece, text.size() - at)});
  }
  return hash.finish();
}

TEST(Sha256, GivesThePublishedValues) {
  EXPECT_EQ(sha256("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 5),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a'), 4096),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  for (std::size_t size : {55u, 56u, 63u, 64u, 65u, 119u, 120u, 128u}) {
    const std::string text(size, 'q');
    for (std::size_t piece : {1u, 7u, 64u, 200u}) {
      EXPECT_EQ(sha256(text, piece), sha256(text, size)) << size << " by " << piece;
    }
  }
}

TEST(Fields, KeepsTheTextOfValues) {
  const Fields fields(
      R"( { "a" : [ 1.0 , {"b":"]},\"" , "c":[ ]} ] ,"k\u0065y":{"z":1,"y":2}, "n":null} )");
  EXPECT_EQ(fields.raw("a"), R"([ 1.0 , {"b":"]},\"" , "c":[ ]} ])");
  EXPECT_EQ(fields.raw("key"), R"({"z":1,"y":2})");
  EXPECT_EQ(fields.raw("n"), "");
  EXPECT_FALSE(fields.has("n"));
  EXPECT_THAT(elements(fields.raw("a")), testing::ElementsAre("1.0", R"({"b":"]},\"" , "c":[ ]})"));
  EXPECT_THAT(elements(" [ ] "), testing::IsEmpty());
}

TEST(Fields, NamesTheMemberOfTheWrongType) {
  const Fields fields(R"({"i": 1.5, "t": 3, "ids": [1, -2], "big": 18446744073709551615})");
  const auto message_of = [](const auto& read) -> std::string {
    try {
      read();
    } catch (const quire::Error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message_of([&] { (void)fields.integer("i"); }), "i: expected an integer, found 1.5");
  EXPECT_EQ(message_of([&] { (void)fields.text("t"); }), "t: expected a text, found 3");
  EXPECT_EQ(message_of([&] { (void)fields.ids("ids"); }),
            "ids: expected a list of token ids, found [1,-2]");
  EXPECT_THAT(message_of([&] { (void)fields.integer("big"); }), testing::StartsWith("big: "));
  EXPECT_EQ(fields.natural("big"), 18446744073709551615u);
  EXPECT_THAT(message_of([] { Fields("[]"); }), testing::HasSubstr("object"));
  EXPECT_THAT(message_of([] { Fields("{"); }), testing::HasSubstr("invalid JSON"));
}

}  // namespace
}  // namespace cli
