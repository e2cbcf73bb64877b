// SPDX-License-Identifier: Apache-2.0
// Snapshot::save and load, over every cache class.
#include "prompt/snapshot_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/snapshot.h>
#include <quire/static_cache.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "io/json.h"
#include "io/read_file.h"
#include "tests/kv/classes.h"
#include "tests/kv/tokens.h"

namespace quire {
namespace {

namespace fs = std::filesystem;

using testing::append;
using testing::CacheClass;
using ::testing::HasSubstr;
using testing::History;

PrefixModel model_of(const KvSpec& spec) {
  return {.fingerprint = "weights", .kv = spec, .tokenizer = "words"};
}

TokenIds ids_of(const History& tokens) { return {tokens.begin(), tokens.end()}; }

// A snapshot of made-up tokens.
Snapshot freeze(std::unique_ptr<KvCache> cache, const KvSpec& spec, std::int64_t length) {
  const History tokens = testing::make_tokens(3, length);
  append(*cache, spec, tokens);
  return Snapshot(SnapshotParts{.model = model_of(spec),
                                .scope = {.salt = "secret-salt"},
                                .text = "some text",
                                .ids = ids_of(tokens),
                                .logits = {1, 2, 3},
                                .cache = std::move(cache),
                                .note = "a note"});
}

std::string error_of(const std::function<void()>& work, ErrorCode expected) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

const SnapshotLoadOptions kScope = {.scope = {.salt = "secret-salt"}};

// How a file is refused whose checksums are right, but which says something else at `where` in its
// header and has only the first sections.
std::string error_of_forged(const SnapshotFile& good, const char* where, Json value,
                            std::size_t sections, const KvSpec& spec) {
  Json header = good.header();
  header[Json::json_pointer(where)] = std::move(value);
  std::vector<SectionToWrite> list;
  for (std::size_t i = 0; i < sections; ++i) {
    list.push_back({good.bytes(i), good.section(i).position});
  }
  const fs::path path = good.name() + ".bad";
  write_snapshot_file(path, header, list);
  std::string error =
      error_of([&] { Snapshot::load(path, model_of(spec), kScope); }, ErrorCode::kCorrupt);
  fs::remove(path);
  return error;
}

class SnapshotFiles : public ::testing::Test {
 protected:
  SnapshotFiles() : path_(fs::path(::testing::TempDir()) / "quire_snapshot_test.quire") {}
  ~SnapshotFiles() override { fs::remove(path_); }

  void write(const std::string& bytes) const {
    fs::remove(path_);  // what is mapped must not change
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  const fs::path path_;
};

class EveryClass : public SnapshotFiles, public ::testing::WithParamInterface<CacheClass> {};

TEST_P(EveryClass, WhatIsLoadedGoesOnAsWhatWasSaved) {
  const KvSpec spec = testing::test_spec(GetParam().dtype);
  for (const std::int64_t length : {1, 32, 33, 100, 170}) {
    const Snapshot saved = freeze(GetParam().make(spec), spec, length);
    if (saved.kind() == "custom") {
      error_of([&] { saved.save(path_); }, ErrorCode::kUnsupported);
      EXPECT_FALSE(fs::exists(path_));
      return;
    }
    saved.save(path_);
    for (const Verify verify : {Verify::kAtLoad, Verify::kOnUse}) {
      const Snapshot loaded =
          Snapshot::load(path_, model_of(spec), {.scope = kScope.scope, .verify = verify});
      EXPECT_EQ(loaded.kind(), saved.kind());
      EXPECT_EQ(loaded.bytes(), saved.bytes());
      EXPECT_EQ(loaded.capacity(), saved.capacity());
      EXPECT_EQ(loaded.text(), "some text");
      EXPECT_EQ(loaded.note(), "a note");
      EXPECT_TRUE(std::ranges::equal(loaded.ids(), saved.ids()));
      if (!loaded.logits().empty()) {
        EXPECT_TRUE(std::ranges::equal(loaded.logits(), saved.logits()));
      } else {
        EXPECT_NE(loaded.fork(length - 1), nullptr) << "the last token can be computed again";
      }
      for (std::int64_t n = 0; n <= length; n += n < length - 4 ? 9 : 1) {
        const auto one = saved.fork(n);
        const auto other = loaded.fork(n);
        ASSERT_EQ(one == nullptr, other == nullptr) << n;
        if (!one) continue;
        const History more = testing::make_tokens(9, 40);
        ASSERT_EQ(append(*one, spec, more), append(*other, spec, more)) << length << ", " << n;
      }
    }
    // Forks outlive the snapshot and the file's name, and are written to.
    auto fork = Snapshot::load(path_, model_of(spec), kScope).fork(length);
    fs::remove(path_);
    const History more = testing::make_tokens(10, 40);
    EXPECT_EQ(append(*saved.fork(length), spec, more), append(*fork, spec, more));
  }
}

// All but those whose attention is made another for tests.
std::vector<CacheClass> classes() {
  std::vector<CacheClass> classes = testing::cache_classes();
  std::erase_if(classes, [](const CacheClass& c) { return c.name.starts_with("DynamicByAten"); });
  return classes;
}

INSTANTIATE_TEST_SUITE_P(Classes, EveryClass, ::testing::ValuesIn(classes()),
                         [](const auto& item) { return item.param.name; });

KvSpec small_spec() {
  KvSpec spec;
  spec.layers = {{1, 8, 0}, {1, 8, 20}};
  return spec;
}

std::vector<std::pair<std::string, std::unique_ptr<KvCache>>> small_caches(const KvSpec& spec) {
  std::vector<std::pair<std::string, std::unique_ptr<KvCache>>> caches;
  caches.emplace_back("dynamic",
                      std::make_unique<DynamicCache>(spec, PagePoolOptions{.block_size = 16}));
  caches.emplace_back("static",
                      std::make_unique<StaticCache>(spec, StaticCacheOptions{.max_length = 40}));
  caches.emplace_back("quantized",
                      std::make_unique<QuantizedCache>(spec, QuantizedCacheOptions{.nbits = 4}));
  caches.emplace_back("sliding",
                      std::make_unique<SlidingCache>(spec, SlidingCacheOptions{.window = 10}));
  return caches;
}

TEST_F(SnapshotFiles, EveryChangedByteIsNoticed) {
  const KvSpec spec = small_spec();
  for (auto& [name, cache] : small_caches(spec)) {
    freeze(std::move(cache), spec, 37).save(path_);
    const std::string bytes = read_file(path_);
    ASSERT_NO_THROW(Snapshot::load(path_, model_of(spec), kScope)) << name;
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    const auto put = [&](std::size_t at, char c) {
      file.seekp(static_cast<std::streamoff>(at)).put(c).flush();
    };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      put(i, static_cast<char>(bytes[i] ^ (1 << i % 8)));
      ASSERT_THROW(Snapshot::load(path_, model_of(spec), kScope), Error) << name << " " << i;
      put(i, bytes[i]);
    }
    ASSERT_NO_THROW(Snapshot::load(path_, model_of(spec), kScope)) << name;
  }
}

TEST_F(SnapshotFiles, EveryTruncationIsNoticed) {
  const KvSpec spec = small_spec();
  freeze(std::make_unique<DynamicCache>(spec), spec, 20).save(path_);
  const std::string bytes = read_file(path_);
  for (std::size_t size = 0; size < bytes.size(); size += size < 1500 ? 1 : 97) {
    write(bytes.substr(0, size));
    error_of([&] { Snapshot::load(path_, model_of(spec), kScope); }, ErrorCode::kCorrupt);
  }
  write(bytes + "x");
  error_of([&] { Snapshot::load(path_, model_of(spec), kScope); }, ErrorCode::kCorrupt);
}

TEST_F(SnapshotFiles, ABadPageIsFoundWhenItIsNeeded) {
  const KvSpec spec = small_spec();
  freeze(std::make_unique<DynamicCache>(spec, PagePoolOptions{.block_size = 16}), spec, 37)
      .save(path_);
  std::string bytes = read_file(path_);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // of the windowed group's last page
  write(bytes);
  error_of([&] { Snapshot::load(path_, model_of(spec), kScope); }, ErrorCode::kCorrupt);
  const Snapshot lazy =
      Snapshot::load(path_, model_of(spec), {.scope = kScope.scope, .verify = Verify::kOnUse});
  EXPECT_EQ(lazy.fork(32)->length(), 32) << "the pages before it are good";
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(error_of([&] { lazy.fork(37); }, ErrorCode::kCorrupt), HasSubstr("checksum"));
  }
  error_of([&] { lazy.save(path_); }, ErrorCode::kCorrupt);
}

TEST_F(SnapshotFiles, WhatDiffersIsNamed) {
  const KvSpec spec = small_spec();
  freeze(std::make_unique<DynamicCache>(spec), spec, 20).save(path_);
  const auto expect_named = [&](const PrefixModel& model, const std::string& field) {
    EXPECT_THAT(
        error_of([&] { Snapshot::load(path_, model, kScope); }, ErrorCode::kInvalidArgument),
        HasSubstr(field));
  };
  PrefixModel other = model_of(spec);
  other.fingerprint = "other";
  expect_named(other, "model other");
  other = model_of(spec);
  other.tokenizer = "other";
  expect_named(other, "tokenizer other");
  other = model_of(spec);
  other.kv.dtype = DType::kBF16;
  expect_named(other, "kv_dtype bf16");
  other = model_of(spec);
  other.kv.layers.push_back({1, 8, 0});
  expect_named(other, "kv_layout");
  EXPECT_THAT(error_of([&] { Snapshot::load(path_, model_of(spec)); }, ErrorCode::kInvalidArgument),
              HasSubstr("salt"));
  error_of([&] { Snapshot::load(path_.string() + ".no", model_of(spec)); }, ErrorCode::kNotFound);
  std::string bytes = read_file(path_);
  EXPECT_EQ(bytes.find("secret-salt"), std::string::npos) << "salts may be secrets";
  bytes[8] = 2;
  write(bytes);
  EXPECT_THAT(
      error_of([&] { Snapshot::load(path_, model_of(spec), kScope); }, ErrorCode::kUnsupported),
      HasSubstr("expected version 1, found 2"));
}

// Files whose checksums are right, but which contradict themselves.
TEST_F(SnapshotFiles, ContradictionsAreNoticed) {
  const KvSpec spec = small_spec();
  freeze(std::make_unique<QuantizedCache>(spec,
                                          QuantizedCacheOptions{.nbits = 4, .residual_length = 32}),
         spec, 100)
      .save(path_);
  const SnapshotFile good(path_);
  const auto expect_refused = [&](const char* where, Json value, std::size_t sections) {
    error_of_forged(good, where, std::move(value), sections, spec);
  };
  const std::size_t all = good.sections();
  expect_refused("/has_text", true, all - 1);
  expect_refused("/has_text", true, 3);
  expect_refused("/has_text", "yes", all);
  for (const Json& length :
       {Json(0), Json(-1), Json(99), Json(129), Json(1ull << 62), Json("100")}) {
    expect_refused("/cache/length", length, all);
  }
  for (const Json& first : {Json::array(), Json::array({0}), Json::array({0, 3}),
                            Json::array({-1, 1}), Json::array({1, 1}), Json::array({"0", 1})}) {
    expect_refused("/cache/first", first, all);
  }
  expect_refused("/cache/kind", "dynamic", all);
  expect_refused("/cache/kind", "another", all);
  expect_refused("/cache/options/nbits", 8, all);
  expect_refused("/cache/options/nbits", 5, all);
  expect_refused("/cache/options", Json::object(), all);
  expect_refused("/cache/options/q_group_size", 0, all);
  expect_refused("/namespace", Json::object(), all);
}

// Before a page is looked at and a table made of that many.
TEST_F(SnapshotFiles, ALengthWithoutItsIdsIsNoticedFirst) {
  const KvSpec spec = small_spec();
  for (auto& [name, cache] : small_caches(spec)) {
    freeze(std::move(cache), spec, 37).save(path_);
    const SnapshotFile good(path_);
    EXPECT_THAT(
        error_of_forged(good, "/cache/length", std::int64_t{1} << 34, good.sections(), spec),
        HasSubstr("expected 17179869184 ids, found 37"))
        << name;
  }
}

// 2^53 + 1 pages of 2^11 bytes: in 64 bits, one.
TEST_F(SnapshotFiles, ASlabWhoseBytesCannotBeCountedIsRefused) {
  const KvSpec spec = small_spec();
  freeze(std::make_unique<StaticCache>(spec, StaticCacheOptions{.max_length = 40}), spec, 20)
      .save(path_);
  const SnapshotFile good(path_);
  for (const std::int64_t length : {(std::int64_t{1} << 58) + 32, KvCache::kUnlimited}) {
    EXPECT_THAT(error_of_forged(good, "/cache/options/max_length", length, good.sections(), spec),
                HasSubstr("max_length"));
  }
}

// A model of 135 million parameters: 23,040 bytes a token, and logits of 49,152 words, which are
// kept from about 850 tokens on.
TEST_F(SnapshotFiles, TheFileIsLittleMoreThanItsPages) {
  KvSpec spec;
  spec.layers.assign(30, {3, 64, 0});
  spec.dtype = DType::kBF16;
  for (const std::int64_t length : {40, 320, 896}) {
    auto cache = std::make_unique<DynamicCache>(spec);
    const History tokens = testing::make_tokens(3, length);
    append(*cache, spec, tokens);
    const Snapshot snapshot(SnapshotParts{.model = model_of(spec),
                                          .text = std::string(4 * tokens.size(), 'x'),
                                          .ids = ids_of(tokens),
                                          .logits = std::vector<float>(49152),
                                          .cache = std::move(cache)});
    snapshot.save(path_);
    EXPECT_LE(static_cast<double>(fs::file_size(path_)),
              1.02 * static_cast<double>(snapshot.bytes()))
        << length;
    EXPECT_EQ(Snapshot::load(path_, model_of(spec)).logits().empty(), length < 850);
  }
}

TEST_F(SnapshotFiles, MappedPagesAreInNoBudget) {
  const KvSpec spec = small_spec();
  freeze(std::make_unique<DynamicCache>(spec), spec, 70).save(path_);
  const auto fork = Snapshot::load(path_, model_of(spec), kScope).fork(70);
  const auto& pool = *dynamic_cast<const DynamicCache&>(*fork).pool();
  EXPECT_EQ(pool.used_bytes(), 0);
  append(*fork, spec, testing::make_tokens(4, 1));
  const std::int64_t page = 32 * spec.bytes_per_token();
  EXPECT_EQ(pool.used_bytes(), page) << "the open pages were copied";
  EXPECT_GT(fork->bytes(), page);
}

}  // namespace
}  // namespace quire
