// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>
#include <quire/error.h>
#include <quire/page_tier.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "io/sqlite.h"
#include "tests/prefix/tier_texts.h"

namespace quire {
namespace {

using testing::TemporaryFolder;
using testing::TierTexts;

TEST(DiskTier, KeepsTextsOverRestarts) {
  const TemporaryFolder folder;
  const TierTexts texts;
  const TokenIds text = TierTexts::tokens(1, 100);
  EXPECT_EQ(texts.store(*make_disk_tier(folder.file("pages.db")), text), 7);
  const auto tier = make_disk_tier(folder.file("pages.db"));
  for (const std::int64_t first : {0, 1, 5}) EXPECT_EQ(texts.load(*tier, text, first), 100);
  EXPECT_EQ(texts.load(*tier, TierTexts::tokens(2, 100)), 0);
  EXPECT_EQ(tier->stats().loaded_blocks, 7 + 6 + 2);
}

TEST(DiskTier, FindsTheLongestCommonPrefixAmongMany) {
  const TemporaryFolder folder;
  const auto tier = make_disk_tier(folder.file("pages.db"));
  testing::expect_longest_prefixes(*tier);
}

TEST(DiskTier, ABlockNeedsThoseBeforeIt) {
  const TemporaryFolder folder;
  const TierTexts texts;
  const auto tier = make_disk_tier(folder.file("pages.db"));
  const TokenIds text = TierTexts::tokens(1, 64);
  EXPECT_EQ(texts.store(*tier, text, 2), 0);
  EXPECT_EQ(tier->stats().rejected_blocks, 2);
  EXPECT_EQ(texts.load(*tier, text), 0);
  EXPECT_EQ(texts.store(*tier, TokenIds(text.begin(), text.begin() + 32)), 2);
  EXPECT_EQ(texts.store(*tier, text, 2), 2);
  EXPECT_EQ(texts.load(*tier, text), 64);
}

TEST(DiskTier, StaysWithinItsSizeAndForgetsTheLeastRecentlyUsed) {
  const TemporaryFolder folder;
  const TierTexts texts(40000);
  const std::int64_t cap = 4 << 20;
  const auto tier = make_disk_tier(folder.file("pages.db"), {.bytes = cap});
  const TokenIds kept = TierTexts::tokens(0, 64);
  texts.store(*tier, kept);
  for (std::uint32_t seed = 1; seed < 40; ++seed) {
    EXPECT_EQ(texts.store(*tier, TierTexts::tokens(seed, 64)), 4);
    EXPECT_EQ(texts.load(*tier, kept), 64) << "used all the time";
    EXPECT_EQ(texts.load(*tier, TierTexts::tokens(seed, 64)), 64) << "the newest";
    ASSERT_LE(tier->stats().bytes, cap);
    ASSERT_LE(static_cast<std::int64_t>(std::filesystem::file_size(folder.file("pages.db"))), cap);
    ASSERT_LE(std::filesystem::file_size(folder.file("pages.db-wal")), 17u << 20);
  }
  EXPECT_EQ(texts.load(*tier, TierTexts::tokens(1, 64)), 0);
  EXPECT_GT(tier->stats().evicted_blocks, 60);
}

TEST(DiskTier, ATextContinuedInAFullFileLeavesTheTreeSound) {
  const TemporaryFolder folder;
  const TierTexts texts(40000);
  const std::string file = folder.file("pages.db");
  const TokenIds text = TierTexts::tokens(0, 64);
  std::int64_t full = 0;
  {
    const auto tier = make_disk_tier(file);
    texts.store(*tier, TokenIds(text.begin(), text.begin() + 56));
    for (std::uint32_t seed = 1; seed < 6; ++seed) texts.store(*tier, TierTexts::tokens(seed, 64));
    full = tier->stats().bytes;
  }
  const auto tier = make_disk_tier(file, {.bytes = full});
  EXPECT_EQ(texts.store(*tier, text, 3), 1) << "its open end is what was used least recently";
  EXPECT_EQ(texts.load(*tier, text), 64);
  EXPECT_GT(tier->stats().evicted_blocks, 0);
  EXPECT_EQ(Sqlite(file, 1000)
                .integer("SELECT count(*) FROM blocks AS b WHERE children <> "
                         "(SELECT count(*) FROM blocks WHERE parent = b.id)"),
            0);
}

TEST(DiskTier, ATextThatDoesNotFitIsKeptInPart) {
  const TemporaryFolder folder;
  const TierTexts texts(40000);
  const auto tier = make_disk_tier(folder.file("pages.db"), {.bytes = 1 << 20});
  const TokenIds text = TierTexts::tokens(0, 1600);
  const std::int64_t stored = texts.store(*tier, text);
  EXPECT_GT(stored, 0);
  EXPECT_LT(stored, 100);
  EXPECT_EQ(texts.load(*tier, text), stored * 16);
}

TEST(DiskTier, DamagedPagesAreNeverServed) {
  const TemporaryFolder folder;
  const TierTexts texts;
  const auto tier = make_disk_tier(folder.file("pages.db"));
  const TokenIds text = TierTexts::tokens(1, 80);
  texts.store(*tier, text);
  Sqlite(folder.file("pages.db"), 1000)
      .run(
          "UPDATE pages SET bytes = zeroblob(length(bytes)) WHERE id = (SELECT p.id FROM pages p "
          "JOIN blocks b ON b.id = p.block WHERE b.depth = 4 AND p.part = 0)");
  EXPECT_EQ(texts.load(*tier, text), 48);
  EXPECT_EQ(tier->stats().corrupt_blocks, 1);
  texts.store(*tier, TierTexts::tokens(2, 16));
  EXPECT_EQ(texts.store(*tier, text, 3), 2) << "the damaged block has gone, what follows it too";
  EXPECT_EQ(texts.load(*tier, text), 80);
}

TEST(DiskTier, PagesOfAnotherBlockAreDamage) {
  const TemporaryFolder folder;
  const TierTexts texts;
  const auto tier = make_disk_tier(folder.file("pages.db"));
  const TokenIds text = TierTexts::tokens(1, 32);
  texts.store(*tier, text);
  Sqlite(folder.file("pages.db"), 1000)
      .run(
          "UPDATE pages SET block = 5 - block, part = part + 10; "
          "UPDATE pages SET part = part - 10");
  EXPECT_EQ(texts.load(*tier, text), 0);
  EXPECT_EQ(tier->stats().corrupt_blocks, 1);
}

TEST(DiskTier, PartsThatNoBlockHasAreDamage) {
  const TemporaryFolder folder;
  const TierTexts texts;
  const auto tier = make_disk_tier(folder.file("pages.db"));
  const TokenIds text = TierTexts::tokens(1, 48);
  texts.store(*tier, text);
  Sqlite(folder.file("pages.db"), 1000)
      .run(
          "UPDATE pages SET part = part + (1 << 60) "
          "WHERE block = (SELECT id FROM blocks WHERE depth = 2)");
  EXPECT_EQ(texts.load(*tier, text), 16);
  EXPECT_EQ(tier->stats().corrupt_blocks, 1);
  EXPECT_EQ(tier->stats().failures, 0);
}

TEST(DiskTier, TimeToLive) {
  const TemporaryFolder folder;
  const auto tier = make_disk_tier(folder.file("pages.db"));
  const TokenIds text = TierTexts::tokens(1, 16);
  const std::vector<std::byte> page(100);
  const std::vector<BlockBytes> blocks = {{{page}}};
  struct Ttl final : BlockReader {
    std::vector<std::span<std::byte>> place(std::span<const TokenId>, std::span<const std::int64_t>,
                                            std::chrono::milliseconds left) override {
      ttl = left;
      return {};
    }
    void placed() override {}
    std::chrono::milliseconds ttl{-1};
  };
  tier->store(TierTexts::text(text), 0, blocks, std::chrono::hours(1));
  Ttl living;
  tier->load(TierTexts::text(text), 0, living);
  EXPECT_GT(living.ttl, std::chrono::minutes(59));
  EXPECT_LE(living.ttl, std::chrono::hours(1));
  tier->store(TierTexts::text(text), 0, blocks, std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  Ttl dead;
  tier->load(TierTexts::text(text), 0, dead);
  EXPECT_EQ(dead.ttl.count(), -1);
}

std::string refusal(const std::string& file, const DiskTierOptions& options = {}) {
  try {
    make_disk_tier(file, options);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()), "");
    return std::string(to_string(error.code()));
  }
  return "none";
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(DiskTier, RefusesWhatItDidNotMake) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("text")) << std::string(5000, 'x');
  EXPECT_EQ(refusal(folder.file("text")), "Corrupt");
  EXPECT_EQ(refusal(folder.file("no/such/folder.db")), "Io");
  EXPECT_EQ(refusal(folder.file("a.db"), {.bytes = 5}), "InvalidArgument");
}

TEST(DiskTier, LeavesTheFilesOfOthersAsTheyAre) {
  const TemporaryFolder folder;
  const std::string tables = folder.file("tables.db");
  const std::string marked = folder.file("marked.db");
  Sqlite(tables, 0).run("CREATE TABLE t (x)");
  Sqlite(marked, 0).run("PRAGMA application_id = 5");
  for (const std::string& file : {tables, marked}) {
    const std::string before = contents(file);
    EXPECT_EQ(refusal(file), "Unsupported");
    EXPECT_FALSE(before.empty());
    EXPECT_TRUE(contents(file) == before);
    EXPECT_FALSE(std::filesystem::exists(file + "-wal"));
  }
}

TEST(DiskTier, RefusesAFileWithOtherTablesThanItsOwn) {
  for (const char* change : {"CREATE TABLE more (x)",
                             "CREATE TRIGGER t AFTER INSERT ON blocks BEGIN DELETE FROM pages; END",
                             "DROP TABLE pages; CREATE VIEW pages AS WITH RECURSIVE n (x) AS "
                             "(SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS id FROM n"}) {
    const TemporaryFolder folder;
    const std::string file = folder.file("pages.db");
    make_disk_tier(file);
    EXPECT_EQ(refusal(file), "none");
    Sqlite(file, 1000).run(change);
    EXPECT_EQ(refusal(file), "Unsupported") << change;
  }
}

// Runs `work` in a process of its own; its writes to the descriptor can be read from `out`.
struct Child {
  template <typename Work>
  explicit Child(const Work& work) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    id = fork();
    if (id == 0) {
      close(ends[0]);
      work(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    out = ends[0];
  }
  ~Child() {
    close(out);
    if (id > 0) waitpid(id, nullptr, 0);
  }
  void wait_for_output() const {
    pollfd ready{out, POLLIN, 0};
    poll(&ready, 1, -1);
  }
  std::vector<std::uint32_t> read_all() const {
    std::vector<std::uint32_t> numbers;
    std::uint32_t number = 0;
    while (read(out, &number, sizeof number) == sizeof number) numbers.push_back(number);
    return numbers;
  }
  pid_t id;
  int out;
};

TEST(DiskTier, FiftyKillsLoseNothingThatWasReportedStored) {
  const TemporaryFolder folder;
  const TierTexts texts(20000);
  const std::string file = folder.file("pages.db");
  std::mt19937 random(3);
  std::vector<std::uint32_t> stored;
  for (std::uint32_t round = 0; round < 50; ++round) {
    Child child([&](int out) {
      const auto tier = make_disk_tier(file, {.bytes = 1 << 30});
      for (std::uint32_t i = 0;; ++i) {
        const std::uint32_t seed = round * 100000 + i;
        const TokenIds text = TierTexts::tokens(seed, 16 + seed % 50);
        if (texts.store(*tier, text) == (std::ssize(text) + 15) / 16 &&
            write(out, &seed, sizeof seed) != sizeof seed) {
          return;
        }
      }
    });
    if (round % 2 == 0) child.wait_for_output();  // else perhaps while the file is opened
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
    kill(child.id, SIGKILL);
    const std::vector<std::uint32_t> reported = child.read_all();
    const auto tier = make_disk_tier(file, {.bytes = 1 << 30});
    for (const std::uint32_t seed : reported) {
      ASSERT_EQ(texts.load(*tier, TierTexts::tokens(seed, 16 + seed % 50)), 16 + seed % 50);
    }
    stored.insert(stored.end(), reported.begin(), reported.end());
    ASSERT_EQ(tier->stats().corrupt_blocks, 0);
  }
  const auto tier = make_disk_tier(file, {.bytes = 1 << 30});
  for (const std::uint32_t seed : stored) {
    ASSERT_EQ(texts.load(*tier, TierTexts::tokens(seed, 16 + seed % 50)), 16 + seed % 50);
  }
  EXPECT_GE(stored.size(), 25U);
  EXPECT_EQ(Sqlite(file, 1000)
                .integer("SELECT count(*) FROM pragma_integrity_check "
                         "WHERE integrity_check <> 'ok'"),
            0);
}

TEST(DiskTier, ProcessesShareAFileThatIsAlwaysFull) {
  const TemporaryFolder folder;
  const TierTexts texts(20000);
  const std::string file = folder.file("pages.db");
  const auto work = [&](std::uint32_t salt) {
    return [&, salt](int out) {
      const auto tier = make_disk_tier(file, {.bytes = 2 << 20});
      std::mt19937 random(salt);
      std::uint32_t found = 0;
      for (int step = 0; step < 40; ++step) {
        const TokenIds text = TierTexts::tokens(random() % 12, 40);
        texts.store(*tier, text);
        found += texts.load(*tier, TierTexts::tokens(random() % 12, 40)) > 0 ? 1 : 0;
      }
      const std::uint32_t failed =
          static_cast<std::uint32_t>(tier->stats().failures + tier->stats().corrupt_blocks) +
          (::testing::Test::HasFailure() ? 1 : 0);
      if (write(out, &found, 4) != 4 || write(out, &failed, 4) != 4) _exit(1);
    };
  };
  const Child one(work(1));
  const Child two(work(2));
  for (const Child* child : {&one, &two}) {
    const std::vector<std::uint32_t> numbers = child->read_all();
    ASSERT_EQ(numbers.size(), 2U);
    EXPECT_GT(numbers[0], 0U);
    EXPECT_EQ(numbers[1], 0U);
  }
}

}  // namespace
}  // namespace quire
