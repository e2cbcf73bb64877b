// SPDX-License-Identifier: Apache-2.0
// Walks tests/data/malformed: broken checkpoints and odd but valid ones, with a manifest that says
// which is which and what a helpful message mentions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/checkpoint.h>
#include <quire/error.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "formats/block.h"
#include "io/json.h"
#include "io/read_file.h"
#include "tests/formats/model_files.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kFolder = std::filesystem::path(QUIRE_TEST_DATA) / "malformed";

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Opens it and reads all there is.
void read_all(const std::filesystem::path& path) {
  const auto checkpoint = Checkpoint::open(path);
  EXPECT_TRUE(parse_json(checkpoint->config_json(), "config_json").is_object());
  for (const TensorInfo& tensor : checkpoint->tensors()) {
    EXPECT_EQ(checkpoint->find(tensor.name), &tensor);
    const std::int64_t count = element_count(tensor.shape).value();
    if (count == 0) continue;
    std::vector<float> values(static_cast<std::size_t>(count));
    const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    dequantize_rows(tensor, 0, count / row, values);
  }
}

// Entries whose fault only a reader of the model's or the tokenizer's configuration can see.
std::set<std::string> found_later() {
  return read_json_file(kFolder / "later.json").get<std::set<std::string>>();
}

TEST(Malformed, BrokenCheckpointsAreRefusedByName) {
  const std::set<std::string> later = found_later();
  int refused = 0;
  for (const Json& entry : read_json_file(kFolder / "manifest.json")) {
    const auto path = entry.at("path").get<std::string>();
    if (entry.at("expect") != "error" || later.contains(path)) continue;
    SCOPED_TRACE(path + ": " + entry.at("what").get<std::string>());
    const std::string error = error_of([&] { read_all(kFolder / path); });
    EXPECT_THAT(lower(error), HasSubstr(lower(entry.at("must_mention").get<std::string>())));
    EXPECT_NE(error, "no error");
    ++refused;
  }
  EXPECT_GT(refused, 100);
}

TEST(Malformed, ValidCheckpointsOpen) {
  const std::set<std::string> later = found_later();
  int opened = 0;
  for (const Json& entry : read_json_file(kFolder / "manifest.json")) {
    const auto path = entry.at("path").get<std::string>();
    if (entry.at("expect") != "ok" && !later.contains(path)) continue;
    SCOPED_TRACE(path + ": " + entry.at("what").get<std::string>());
    EXPECT_EQ(error_of([&] { read_all(kFolder / path); }), "no error");
    ++opened;
  }
  EXPECT_GT(opened, 40);
}

TEST(Malformed, EveryPrefixOfAFileIsRefused) {
  TestFolder folder;
  folder.write("config.json", "{}");
  for (const char* name : {"gguf/ok-byte-level.gguf", "safetensors/ok-plain/model.safetensors"}) {
    const std::string whole = read_file(kFolder / name);
    const bool is_gguf = std::string_view(name).starts_with("gguf");
    const std::filesystem::path file =
        folder.write(is_gguf ? "cut.gguf" : "model.safetensors", whole);
    for (std::size_t size = whole.size(); size-- > 0;) {
      std::filesystem::resize_file(file, size);
      const std::string error = error_of([&] { Checkpoint::open(is_gguf ? file : folder.path()); });
      ASSERT_THAT(error, HasSubstr("Corrupt")) << name << " cut to " << size;
    }
  }
}

}  // namespace
}  // namespace quire
