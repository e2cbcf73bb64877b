// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/checkpoint.h>
#include <quire/error.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>

#include "formats/tensor_table.h"
#include "io/json.h"
#include "tests/formats/model_files.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

// A safetensors file with one-byte tensors of these names; weights are F16 of no elements.
std::string shard(const std::vector<std::string>& names) {
  std::string header = "{";
  for (const std::string& name : names) {
    header += (header.size() > 1 ? ",\"" : "\"") + name +
              R"(":{"dtype":"F16","shape":[0],"data_offsets":[0,0]})";
  }
  return safetensors(header + "}", "");
}

class CheckpointTest : public ::testing::Test {
 protected:
  std::string open_error() const { return open_error(folder_.path()); }
  std::string open_error(const std::filesystem::path& path) const {
    return error_of([&] { Checkpoint::open(path); });
  }

  TestFolder folder_;
};

TEST_F(CheckpointTest, OpensADirectory) {
  folder_.write("config.json", "{\"a\": 1}\n");
  folder_.write("model.safetensors",
                safetensors(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},
                                "ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})",
                            "iiiiiiiiwwww"));
  const auto checkpoint = Checkpoint::open(folder_.path());
  EXPECT_EQ(checkpoint->format(), Checkpoint::Format::kSafetensors);
  EXPECT_EQ(checkpoint->path(), folder_.path());
  EXPECT_EQ(checkpoint->config_json(), "{\"a\": 1}\n");
  ASSERT_EQ(checkpoint->tensors().size(), 1u);
  EXPECT_EQ(checkpoint->find("w"), &checkpoint->tensors()[0]);
  EXPECT_EQ(checkpoint->find("v"), nullptr);
  EXPECT_THAT(error_of([&] { checkpoint->find("ids"); }),
              HasSubstr("tensor \"ids\": expected weights, found type I64"));
}

TEST_F(CheckpointTest, SaysWhatADirectoryLacks) {
  EXPECT_THAT(open_error(folder_.path() / "gone"), HasSubstr("NotFound"));
  EXPECT_THAT(open_error(), HasSubstr("config.json"));
  EXPECT_THAT(open_error(), HasSubstr("NotFound"));
  folder_.write("config.json", "{}");
  EXPECT_THAT(open_error(), HasSubstr("expected model.safetensors or"));
  EXPECT_THAT(open_error(), HasSubstr("NotFound"));
}

TEST_F(CheckpointTest, NumbersThatJsonLacksBecomeStrings) {
  folder_.write("model.safetensors", shard({"w"}));
  folder_.write("config.json",
                R"({"limit":[0.0, Infinity, -Infinity],"eps":NaN,"text":"NaN \" NaN"})");
  const Json config = parse_json(Checkpoint::open(folder_.path())->config_json(), "config");
  EXPECT_EQ(config.at("limit"), Json({0.0, "Infinity", "-Infinity"}));
  EXPECT_EQ(config.at("eps"), "NaN");
  EXPECT_EQ(config.at("text"), "NaN \" NaN");
  folder_.write("config.json", R"({"eps":Nan})");
  EXPECT_THAT(open_error(), HasSubstr("config.json: invalid JSON at byte 7"));
  folder_.write("config.json", R"({"eps":NaNa})");
  EXPECT_THAT(open_error(), HasSubstr("invalid JSON"));
}

TEST_F(CheckpointTest, RefusesAConfigOfAbsurdSize) {
  folder_.write("model.safetensors", shard({"w"}));
  folder_.write("config.json", "{}" + std::string(17u << 20, ' '));
  EXPECT_THAT(open_error(), HasSubstr("config.json: expected at most"));
}

TEST_F(CheckpointTest, TakesTensorsFromTheShardTheIndexNames) {
  folder_.write("config.json", "{}");
  folder_.write("model.safetensors.index.json",
                R"({"weight_map":{"a":"1.safetensors","b":"sub/2.safetensors"}})");
  folder_.write("1.safetensors", shard({"a", "b", "extra"}));
  folder_.write("sub/2.safetensors", shard({"b"}));
  const auto checkpoint = Checkpoint::open(folder_.path());
  EXPECT_EQ(checkpoint->tensors().size(), 3u);
  EXPECT_NE(checkpoint->find("extra"), nullptr);

  folder_.write("sub/2.safetensors", shard({"b", "extra"}));
  EXPECT_THAT(open_error(), HasSubstr("two tensors are named \"extra\""));
  folder_.write("sub/2.safetensors", shard({"c"}));
  EXPECT_THAT(open_error(), HasSubstr("tensor \"b\" is not in \"sub/2.safetensors\""));
}

TEST_F(CheckpointTest, ShardsMayBeLinksOutOfTheDirectory) {
  folder_.write("model/config.json", "{}");
  folder_.write("model/model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors"}})");
  const auto blob = folder_.write("blob", shard({"a"}));
  std::filesystem::create_symlink(blob, folder_.path() / "model/1.safetensors");
  EXPECT_EQ(open_error(folder_.path() / "model"), "no error");
}

TEST_F(CheckpointTest, ShardNamesStayInside) {
  folder_.write("config.json", "{}");
  folder_.write("1.safetensors", shard({"a"}));
  for (const std::string name :
       {"../1.safetensors", "./1.safetensors", "x/../1.safetensors", "/tmp/1.safetensors", "", ".",
        "..", "1.safetensors/", "1.safetensors\\u0000"}) {
    folder_.write("model.safetensors.index.json", R"({"weight_map":{"a":")" + name + "\"}}");
    EXPECT_THAT(open_error(), HasSubstr("weight_map.a: expected a file inside")) << name;
  }
}

TEST_F(CheckpointTest, GgufMetadataIsTheConfig) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama");
  builder.entry("llama.block_count", GgufType::kUint32, bytes_of<std::uint32_t>(2));
  builder.entry("big", GgufType::kUint64, bytes_of<std::uint64_t>(UINT64_MAX));
  builder.entry("base", GgufType::kFloat32, bytes_of(std::nanf("")));
  builder.entry("limit", GgufType::kFloat64, bytes_of(-std::numeric_limits<double>::infinity()));
  builder.entry("flag", GgufType::kBool, "\1");
  builder.array("heads", GgufType::kInt32, 2,
                bytes_of<std::int32_t>(-4) + bytes_of<std::int32_t>(8));
  builder.array("tags", GgufType::kString, 1, gguf_string("é"));
  builder.array("tokenizer.ggml.tokens", GgufType::kString, 2, gguf_string("a") + gguf_string("b"));
  builder.array("long", GgufType::kUint8, 5000, std::string(5000, '\0'));
  const auto checkpoint = Checkpoint::open(folder_.write("model.bin", builder.build()));
  EXPECT_EQ(checkpoint->format(), Checkpoint::Format::kGguf);
  EXPECT_EQ(parse_json(checkpoint->config_json(), "config"),
            parse_json(R"({"general.architecture":"llama","llama.block_count":2,
                           "big":18446744073709551615,"base":"NaN","limit":"-Infinity","flag":true,
                           "heads":[-4,8],"tags":["é"],"tokenizer.ggml.tokens.length":2,
                           "long.length":5000})",
                       "expected"));
}

TEST_F(CheckpointTest, OtherFilesAreRefusedByKind) {
  EXPECT_THAT(open_error(folder_.write("a.bin", "x")), HasSubstr("Unsupported"));
  EXPECT_THAT(open_error(folder_.write("a.gguf", "x")), HasSubstr("a.gguf: magic"));
  GgufBuilder builder;
  EXPECT_THAT(open_error(folder_.write("b.gguf", builder.build())),
              HasSubstr("general.architecture: is missing"));
  builder.text("general.architecture", "llama");
  builder.entry("split.count", GgufType::kUint16, bytes_of<std::uint16_t>(2));
  EXPECT_THAT(open_error(folder_.write("c.gguf", builder.build())), HasSubstr("split.count"));
}

TEST(TensorTable, FindsDuplicatesOfEitherKind) {
  const auto table = [](const std::vector<std::string>& weights,
                        const std::vector<std::string>& others) {
    TensorTable out;
    for (const std::string& name : weights) out.add({name, BlockType::kF32, {0}, {}});
    for (const std::string& name : others) out.add_other(name, "I64");
    out.finish("file");
  };
  EXPECT_EQ(error_of([&] { table({"b", "a"}, {"d", "c"}); }), "no error");
  EXPECT_THAT(error_of([&] {
                table({"b", "a", "b"}, {});
              }),
              HasSubstr("two tensors are named \"b\""));
  EXPECT_THAT(error_of([&] { table({}, {"c", "c"}); }), HasSubstr("named \"c\""));
  EXPECT_THAT(error_of([&] { table({"a"}, {"c", "a"}); }), HasSubstr("named \"a\""));
}

}  // namespace
}  // namespace quire
