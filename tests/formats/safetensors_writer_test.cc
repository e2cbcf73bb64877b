// SPDX-License-Identifier: Apache-2.0
#include "formats/safetensors_writer.h"

#include <gmock/gmock.h>

#include "formats/safetensors.h"
#include "io/read_file.h"
#include "tests/formats/model_files.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> raw(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(SafetensorsWriter, ReaderFindsWhatWasWritten) {
  const TestFolder folder;
  const std::filesystem::path path = folder.path() / "a.safetensors";
  const std::vector<SafetensorsEntry> entries = {{"z.first", BlockType::kF32, {2, 3}},
                                                 {"a \"second\"", BlockType::kBF16, {3}},
                                                 {"empty", BlockType::kF32, {0, 4}},
                                                 {"scalar", BlockType::kF64, {}}};
  std::vector<std::string> data = {std::string(24, 'f'), "123456", "", "87654321"};
  SafetensorsWriter writer(path, entries);
  writer.write(raw(data[0]).first(7));  // a tensor in pieces, across nothing in particular
  writer.write(raw(data[0]).subspan(7));
  writer.write(raw(data[1]));
  writer.write(raw(data[3]));
  writer.finish();

  const SafetensorsFile file(path);
  ASSERT_EQ(file.tensors().size(), entries.size());
  for (const SafetensorsFile::Tensor& tensor : file.tensors()) {
    SCOPED_TRACE(tensor.name);
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const auto& each) { return each.name == tensor.name; });
    ASSERT_NE(entry, entries.end());
    EXPECT_EQ(tensor.type, entry->type);
    EXPECT_EQ(tensor.shape, entry->shape);
    const std::string& expected = data[static_cast<std::size_t>(entry - entries.begin())];
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()),
              expected);
  }
}

TEST(SafetensorsWriter, HeaderNamesPytorchAndAlignsTheData) {
  const TestFolder folder;
  for (std::size_t length = 1; length <= 8; ++length) {
    const std::filesystem::path path = folder.path() / std::to_string(length);
    const std::vector<SafetensorsEntry> entries = {{std::string(length, 'n'), BlockType::kF32, {}}};
    SafetensorsWriter writer(path, entries);
    writer.write(raw("abcd"));
    writer.finish();
    const std::string text = read_file(path);
    EXPECT_EQ((text.size() - 4) % 8, 0U);
    EXPECT_THAT(text, HasSubstr(R"("__metadata__":{"format":"pt"})"));
    EXPECT_EQ(SafetensorsFile(path).tensors()[0].data.size(), 4U);
  }
}

TEST(SafetensorsWriter, RefusesTooFewAndTooManyBytes) {
  const TestFolder folder;
  const std::vector<SafetensorsEntry> entries = {{"a", BlockType::kF32, {2}}};
  SafetensorsWriter few(folder.path() / "few", entries);
  few.write(raw("abc"));
  EXPECT_THAT(error_of([&] { few.finish(); }), HasSubstr("expected 8 bytes of tensors, found 3"));
  SafetensorsWriter many(folder.path() / "many", entries);
  many.write(raw("abcdefghi"));
  EXPECT_THAT(error_of([&] { many.finish(); }), HasSubstr("expected 8 bytes of tensors, found 9"));
}

TEST(SafetensorsWriter, RefusesQuantisedBlocks) {
  const TestFolder folder;
  const std::vector<SafetensorsEntry> entries = {{"a", BlockType::kQ4_0, {32}}};
  EXPECT_THAT(error_of([&] { SafetensorsWriter writer(folder.path() / "a", entries); }),
              HasSubstr("Unsupported a: safetensors files hold no blocks of type Q4_0"));
}

}  // namespace
}  // namespace quire
