// SPDX-License-Identifier: Apache-2.0
// What keeps texts apart in a PrefixCache, and how long the cache knows of it.
#include "prefix/name_space.h"

#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/prefix/server.h"

#define XXH_INLINE_ALL  // for its secret
#include <xxhash.h>

namespace quire {
namespace {

using testing::append;
using testing::history_of;
using testing::make_spec;
using testing::ramp;
using testing::Server;

// XXH3 reads stripes of 64 bytes, each eight of them against a secret that everybody knows. Where
// their lower half is the secret's, the upper halves only add up over the stripes.
std::pair<std::string, std::string> salts_of_one_digest(const NameSpace& space) {
  std::size_t at = 0;  // where the salt begins in what is hashed
  for (const NameSpace::Field& field : space.fields) {
    at += 8 + field.name.size() + 8;
    if (field.name == "salt") break;
    at += field.value.size();
  }
  const std::size_t stripe = at / 64 + 1;
  const auto put = [&](std::string& salt, std::size_t n, std::uint32_t upper) {
    char* place = salt.data() + (64 * n - at);
    std::memcpy(place, XXH3_kSecret + 8 * n, 4);
    std::memcpy(place + 4, &upper, 4);
  };
  std::pair salts(std::string(512, 's'), std::string(512, 's'));
  put(salts.first, stripe, 1);
  put(salts.first, stripe + 1, 2);
  put(salts.second, stripe, 2);
  put(salts.second, stripe + 1, 1);
  return salts;
}

TEST(NameSpace, OneDigestIsNoProof) {
  Server server({.logits_bytes = 1 << 20});
  const auto salts = salts_of_one_digest(make_name_space(server.model, 32, {}));
  const PrefixScope first{.salt = salts.first};
  const PrefixScope second{.salt = salts.second};
  ASSERT_NE(first.salt, second.salt);
  ASSERT_EQ(make_name_space(server.model, 32, first).digest(),
            make_name_space(server.model, 32, second).digest());
  const TokenIds tokens = ramp(100);
  server.serve(tokens, first);
  server.cache.lookup_whole(server.model, tokens, first).store_logits(tokens, {1});
  for (int i = 0; i < 2; ++i) {
    const Server::Served served = server.serve(tokens, second);
    EXPECT_EQ(served.reused, 0);
    EXPECT_EQ(served.why.reason, MissReason::kCold);
    EXPECT_EQ(served.last, server.cold(tokens));
  }
  EXPECT_TRUE(server.cache.lookup_whole(server.model, tokens, second).logits().empty());
  EXPECT_EQ(server.cache.pin(server.model, tokens, second), 0);
  EXPECT_EQ(server.cache.stats().blocks, 4);
  EXPECT_GT(server.cache.stats().collisions, 0);
  EXPECT_EQ(server.cache.lookup_whole(server.model, tokens, first).reused_tokens(), 100);

  server.cache.clear();
  EXPECT_EQ(server.serve(tokens, second).reused, 0);
  EXPECT_EQ(server.serve(tokens, second).reused, 99) << "the first is gone";
  EXPECT_EQ(server.serve(tokens, first).reused, 0);
}

TEST(NameSpace, IsForgottenWithItsLastPage) {
  constexpr std::int64_t kSalt = 1'000'000;
  Server server({.bytes = 2 * 32 * make_spec().bytes_per_token()});
  const auto scope = [](int i) {
    return PrefixScope{.salt = std::to_string(i) + std::string(kSalt, 's')};
  };
  const std::int64_t at_first = server.cache.stats().index_bytes;
  const TokenIds tokens = ramp(20);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(server.cache.lookup(server.model, tokens, scope(i)).reused_tokens(), 0);
    EXPECT_EQ(server.cache.pin(server.model, tokens, scope(i)), 0);
    server.cache.unpin(server.model, tokens, scope(i));
    server.cache.end_session(server.model, tokens, scope(i));
  }
  EXPECT_EQ(server.cache.stats().index_bytes, at_first) << "nothing was stored";

  for (int i = 0; i < 20; ++i) server.serve(tokens, scope(i));
  EXPECT_EQ(server.cache.stats().blocks, 2);
  EXPECT_GT(server.cache.stats().index_bytes, at_first + 2 * kSalt) << "they are accounted for";
  EXPECT_LT(server.cache.stats().index_bytes, at_first + 3 * kSalt);
  server.cache.clear();
  EXPECT_LT(server.cache.stats().index_bytes, at_first + kSalt);
}

TEST(NameSpace, NoBudgetKeepsNone) {
  Server server({.bytes = 0});
  const std::int64_t at_first = server.cache.stats().index_bytes;
  const PrefixMatch match = server.cache.lookup(server.model, ramp(20), {.salt = "a"});
  EXPECT_EQ(match.why_not_more().reason, MissReason::kDisabled);
  EXPECT_EQ(server.cache.stats().index_bytes, at_first);
}

TEST(NameSpace, TakesItsLogitsAlong) {
  Server server({.bytes = 2 * 32 * make_spec().bytes_per_token(), .logits_bytes = 1 << 20});
  const TokenIds tokens = ramp(20);
  server.serve(tokens, {.salt = "a"});
  server.cache.lookup_whole(server.model, tokens, {.salt = "a"}).store_logits(tokens, {1});
  EXPECT_GT(server.cache.stats().logits_bytes, 0);
  server.serve(ramp(64, 500), {.salt = "b"});  // takes the room
  EXPECT_EQ(server.cache.stats().logits_bytes, 0);
}

TEST(NameSpace, IsHeldByItsMatches) {
  Server server({.explain_across_namespaces = true});
  const TokenIds tokens = ramp(40);
  const auto missed = [&] {
    return server.cache.lookup(server.model, tokens, {.salt = "c"}).why_not_more();
  };
  PrefixMatch match = server.cache.lookup(server.model, tokens, {.salt = "a"});
  const auto kv = match.make_cache();
  append(*kv, server.model.kv, history_of(tokens));
  server.serve(tokens, {.salt = "b"});
  EXPECT_EQ(missed().field, "salt");
  server.cache.clear();
  EXPECT_EQ(missed().reason, MissReason::kCold);
  match.store(tokens, *kv);
  EXPECT_EQ(server.cache.lookup(server.model, tokens, {.salt = "a"}).reused_tokens(), 39);
  EXPECT_EQ(missed().reason, MissReason::kOtherNamespace);
  match = PrefixMatch();
  server.cache.clear();
  EXPECT_EQ(missed().reason, MissReason::kCold);
}

class NameSpaceBits : public ::testing::TestWithParam<int> {};

// However many hashes collide, and for parts of pages too.
TEST_P(NameSpaceBits, NoTextCrosses) {
  Server server({.block_size = 16, .hash_bits = GetParam()});
  std::mt19937 random(3);
  std::map<std::string, std::vector<TokenIds>> texts;
  for (int step = 0; step < 120; ++step) {
    const std::string salt(random() % 6, 's');
    TokenIds tokens = ramp(static_cast<std::int64_t>(random() % 30));
    for (int i = 0; i < 8; ++i) tokens.push_back(static_cast<TokenId>(random() % 2));
    std::int64_t longest = 0;
    for (const TokenIds& known : texts[salt]) {
      const auto end = std::mismatch(known.begin(), known.end(), tokens.begin(), tokens.end());
      longest = std::max<std::int64_t>(longest, end.first - known.begin());
    }
    const Server::Served served = server.serve(tokens, {.salt = salt});
    ASSERT_LE(served.reused, longest) << step;
    ASSERT_EQ(served.last, server.cold(tokens)) << step;
    texts[salt].push_back(tokens);
  }
  EXPECT_GT(server.cache.stats().memory_tokens + server.cache.stats().copied_tokens, 0);
}

INSTANTIATE_TEST_SUITE_P(Bits, NameSpaceBits, ::testing::Values(1, 4, 8, 128));

}  // namespace
}  // namespace quire
