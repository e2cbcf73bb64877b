// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/answer_cache.h>
#include <quire/semantic_cache.h>

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/semantic/fake_embedder.h"

namespace quire {
namespace {

using std::chrono::milliseconds;
using testing::FakeEmbedder;

std::shared_ptr<FakeEmbedder> fake() { return std::make_shared<FakeEmbedder>(); }

// One word of seven is another: near, and no guard minds made-up words.
constexpr const char* kStored = "bramo cassel dintu folgar hespi jornak lemura";
constexpr const char* kNear = "bramo cassel dintu folgar hespi jornak";

TEST(SemanticCache, ServesAtThreeLevels) {
  SemanticCache answers(fake(), {.threshold = 0.8});
  const auto id = answers.store("Bramo cassel dintu folgar", "yes");
  ASSERT_TRUE(id);
  const SemanticLookup exact = answers.lookup("Bramo cassel dintu folgar");
  EXPECT_EQ(exact->level, AnswerSource::kExact);
  EXPECT_EQ(exact->id, *id);
  const SemanticLookup normal = answers.lookup("  bramo  cassel\tdintu folgar . ");
  EXPECT_EQ(normal->level, AnswerSource::kNormalized);
  EXPECT_EQ(normal->matched, "Bramo cassel dintu folgar");
  const SemanticLookup question = answers.lookup("bramo cassel dintu folgar?");
  EXPECT_NE(question ? question->level : AnswerSource::kModel, AnswerSource::kNormalized);
  SemanticCache others(fake(), {.threshold = 0.8});
  others.store(kStored, "near");
  const SemanticLookup near = others.lookup(kNear);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->level, AnswerSource::kSemantic);
  EXPECT_LT(near->score, 1);
  EXPECT_EQ(near->response, "near");
}

TEST(SemanticCache, CodeIsNeverNormalized) {
  SemanticCache answers(fake());
  answers.store("Explain `X  Y`", "yes");
  for (const char* other : {"Explain `X Y`", "explain `X  Y`", "Explain `X  Y`."}) {
    const SemanticLookup found = answers.lookup(other);
    EXPECT_FALSE(found && found->level == AnswerSource::kNormalized) << other;
  }
}

TEST(SemanticCache, NothingIsNoQuestion) {
  SemanticCache answers(fake(), {.threshold = 0.1});
  answers.store({.prompt = "", .answer = {.response = "a"}, .ids = {1}});
  answers.store("!", "b");
  EXPECT_FALSE(answers.lookup({.prompt = "", .ids = {2}}));
  EXPECT_FALSE(answers.lookup("."));
  EXPECT_EQ(answers.lookup({.prompt = "", .ids = {1}})->response, "a");
  EXPECT_EQ(answers.lookup("!")->response, "b");
}

TEST(SemanticCache, IdsDecideTheExactLevelWhenGiven) {
  SemanticCache answers(fake());
  answers.store({.prompt = kStored, .answer = {.response = "a"}, .ids = {1, 2}});
  EXPECT_EQ(answers.lookup({.prompt = "other", .ids = {1, 2}})->level, AnswerSource::kExact);
  EXPECT_NE(answers.lookup({.prompt = kStored, .ids = {1, 3}})->level, AnswerSource::kExact);
}

TEST(SemanticCache, NothingCrossesAScope) {
  const SemanticScope scopes[] = {
      {.name_space = "x"}, {.model = "x"}, {.system_prompt = "x"},  {.history = "x"},
      {.sampling = "x"},   {.vary = "x"},  {.name_space = "1:x0:"}, {}};
  SemanticCache answers(fake());
  for (const SemanticScope& scope : scopes) {
    EXPECT_EQ(answers.lookup(kStored, scope).reason(), "nothing_stored");
    answers.store(kStored, "mine", scope);
    EXPECT_TRUE(answers.lookup(kStored, scope));
    EXPECT_EQ(answers.stats(scope).entries, 1);
  }
  EXPECT_EQ(answers.stats().entries, std::ssize(scopes));
}

TEST(SemanticCache, AnswersThatAreNoneAreNotStored) {
  SemanticCache answers(fake());
  EXPECT_FALSE(answers.store(kStored, ""));
  for (const FinishReason reason :
       {FinishReason::kLength, FinishReason::kCancelled, FinishReason::kDeadline}) {
    EXPECT_FALSE(
        answers.store({.prompt = kStored, .answer = {.response = "x", .finish_reason = reason}}));
  }
  EXPECT_EQ(answers.stats().entries, 0);
  EXPECT_TRUE(answers.store(
      {.prompt = kStored, .answer = {.response = "x", .finish_reason = FinishReason::kStop}}));
}

TEST(SemanticCache, BlindTextsSkipTheSemanticLevelForACountedReason) {
  SemanticCache answers(fake(), {.threshold = 0.5});
  answers.store(kStored, "a");
  std::string long_tail;  // longer than the guards read
  for (int i = 0; i < 6000; ++i) long_tail += " mo";
  const std::pair<std::string, SemanticMiss> texts[] = {
      {std::string(kNear) + " UNKNOWN", SemanticMiss::kUnknownTokens},
      {std::string(kNear) + " LONG", SemanticMiss::kTooLong},
      {kNear + long_tail, SemanticMiss::kTooLong},
      {std::string(kNear) + " NAN", SemanticMiss::kBadNumber},
      {" \t\n", SemanticMiss::kEmptyText}};
  for (const auto& [text, miss] : texts) {
    const std::int64_t before = answers.stats().misses[static_cast<int>(miss)];
    EXPECT_EQ(answers.lookup(text).miss, miss) << text;
    EXPECT_EQ(answers.stats().misses[static_cast<int>(miss)], before + 1) << text;
    // Such a text is still found as itself, and by no neighbour.
    ASSERT_TRUE(answers.store(text, "b"));
    EXPECT_EQ(answers.lookup(text)->level, AnswerSource::kExact) << text;
  }
  EXPECT_EQ(answers.lookup(kNear)->response, "a");
  SemanticQuery query{.prompt = std::string(kNear) + " UNKNOWN x"};
  EXPECT_FALSE(answers.lookup(query));
  query.unknown_tokens = UnknownTokens::kAllow;
  EXPECT_EQ(answers.lookup(query)->response, "b");
}

TEST(SemanticCache, GuardsAreSwitchedByQueryAndScope) {
  SemanticCache answers(fake(), {.threshold = 0.5});
  const std::string stored = std::string(kStored) + " 5";
  const std::string asked = std::string(kStored) + " 6";
  answers.store(stored, "five");
  const SemanticLookup refused = answers.lookup(asked);
  EXPECT_EQ(refused.reason(), "numbers");
  EXPECT_EQ(refused.passed_over.at(0).refused->saw, "6 against 5");
  EXPECT_EQ(answers.stats().refusals[static_cast<int>(Guard::kNumbers)], 1);
  EXPECT_TRUE(answers.lookup({.prompt = asked, .guards = GuardSet::none()}));
  answers.set_guards({}, {.numbers = false});
  EXPECT_TRUE(answers.lookup(asked));
  EXPECT_EQ(answers.lookup({.prompt = asked, .guards = GuardSet{}}).reason(), "numbers");
}

TEST(SemanticCache, ARefusedCandidateLetsTheNextOneTry) {
  SemanticCache answers(fake(), {.threshold = 0.5});
  answers.store(std::string(kStored) + " 5", "five");
  answers.store(std::string(kStored) + " molvi 6", "six");
  const SemanticLookup found = answers.lookup(std::string(kStored) + " molvi 6 6");
  EXPECT_FALSE(found && found->response == "five");
}

TEST(SemanticCache, NearAnswersBecomeDraftsOnlyWhenAsked) {
  for (const NearHits near : {NearHits::kMiss, NearHits::kDraft}) {
    SemanticCache answers(fake(), {.threshold = 0.5, .near_hits = near});
    answers.store(std::string(kStored) + " 5", "five");
    const SemanticLookup found = answers.lookup(std::string(kStored) + " 6");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.draft.has_value(), near == NearHits::kDraft);
    EXPECT_EQ(found.draft.value_or(StoredAnswer{}).response,
              near == NearHits::kDraft ? "five" : "");
  }
}

TEST(SemanticCache, WrongReportsRaiseTheEntrysThreshold) {
  SemanticCache answers(fake(), {.threshold = 0.5});
  const auto id = answers.store(kStored, "a");
  const SemanticLookup hit = answers.lookup(kNear);
  ASSERT_TRUE(hit);
  EXPECT_TRUE(answers.report_right(*id));
  EXPECT_TRUE(answers.report_wrong(*id));
  const SemanticLookup again = answers.lookup(kNear);
  EXPECT_EQ(again.miss, SemanticMiss::kBelowThreshold);
  EXPECT_GT(again.passed_over.at(0).threshold, hit->score);
  EXPECT_TRUE(answers.lookup(kStored));  // itself
  const ErrorBound bound = answers.stats().semantic_errors;
  EXPECT_EQ(bound.reported, 2);
  EXPECT_EQ(bound.wrong, 1);
  EXPECT_GT(bound.upper, 0.9);
  EXPECT_FALSE(answers.report_wrong(999));
  // An answer that is wrong for its own question goes.
  ASSERT_EQ(answers.lookup(kStored)->level, AnswerSource::kExact);
  EXPECT_TRUE(answers.report_wrong(*id));
  EXPECT_EQ(answers.stats().entries, 0);
}

struct Clock {
  std::chrono::system_clock::time_point time{};
  std::function<std::chrono::system_clock::time_point()> reader() {
    return [this] { return time; };
  }
};

TEST(SemanticCache, EntriesExpireAndReturnTheirMemory) {
  Clock clock;
  SemanticCache answers(fake(), {.ttl = milliseconds(100), .clock = clock.reader()});
  const std::int64_t empty = answers.stats().bytes;
  answers.store(kStored, "a");
  answers.store(
      {.prompt = "longer", .answer = {.response = "b"}, .keep = {.ttl = milliseconds(300)}});
  clock.time += milliseconds(99);
  EXPECT_EQ(answers.lookup(kStored)->age, milliseconds(99));
  clock.time += milliseconds(1);
  EXPECT_FALSE(answers.lookup(kStored));
  EXPECT_TRUE(answers.lookup("longer"));
  clock.time += milliseconds(200);
  EXPECT_FALSE(answers.lookup("longer"));
  EXPECT_EQ(answers.stats().expired, 2);
  EXPECT_EQ(answers.stats().bytes, empty);
}

TEST(SemanticCache, ATimeToLiveBeyondAllTimesIsForEver) {
  SemanticCache answers(fake(), {.ttl = milliseconds::max(), .sliding_ttl = true});
  answers.store(kStored, "a");
  EXPECT_TRUE(answers.lookup(kStored));
  EXPECT_TRUE(answers.lookup(kStored));
  AnswerCache equal({.ttl = milliseconds::max()});
  equal.store({.prompt = kStored, .answer = {.response = "a"}});
  EXPECT_TRUE(equal.lookup({.prompt = kStored}));
}

TEST(SemanticCache, ASlidingTtlStartsAgainAtEachHit) {
  Clock clock;
  SemanticCache answers(fake(),
                        {.ttl = milliseconds(100), .sliding_ttl = true, .clock = clock.reader()});
  answers.store(kStored, "a");
  for (int i = 0; i < 5; ++i) {
    clock.time += milliseconds(80);
    EXPECT_TRUE(answers.lookup(kStored));
  }
  clock.time += milliseconds(100);
  EXPECT_FALSE(answers.lookup(kStored));
}

std::string kept(SemanticEviction eviction) {
  SemanticCache answers(fake(), {.max_entries = 3, .eviction = eviction});
  for (const char* prompt : {"alnu", "brek", "cilo"}) answers.store(prompt, "x");
  for (const char* prompt : {"alnu", "alnu", "cilo", "brek"}) answers.lookup(prompt);
  answers.store("dorv", "x");
  answers.store("efan", "x");
  std::string left;
  for (const char* prompt : {"alnu", "brek", "cilo", "dorv", "efan"}) {
    if (answers.lookup(prompt)) left += prompt[0];
  }
  return left;
}

TEST(SemanticCache, EvictsByRecencyFrequencyOrAge) {
  EXPECT_EQ(kept(SemanticEviction::kLru), "bde");
  EXPECT_EQ(kept(SemanticEviction::kLfu), "abe");  // dorv was never used
  EXPECT_EQ(kept(SemanticEviction::kFifo), "cde");
}

TEST(SemanticCache, StoringAnewEvictsNothing) {
  SemanticCache answers(fake(), {.max_entries = 2});
  answers.store("alnu", "1");
  answers.store("brek", "2");
  answers.store("brek", "3");
  EXPECT_EQ(answers.lookup("alnu")->response, "1");
  EXPECT_EQ(answers.lookup("brek")->response, "3");
  EXPECT_EQ(answers.stats().evicted, 0);
}

TEST(SemanticCache, BytesAreBounded) {
  constexpr std::int64_t kMost = 64 << 10;
  SemanticCache answers(fake(), {.max_bytes = kMost});
  for (int i = 0; i < 500; ++i) {
    answers.store("q" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'x'),
                  {.vary = std::to_string(i % 7)});
    EXPECT_LE(answers.stats().bytes, kMost);
  }
  EXPECT_GT(answers.stats().entries, 10);
  EXPECT_TRUE(answers.lookup("q499", {.vary = std::to_string(499 % 7)}));
  EXPECT_FALSE(answers.store("big", std::string(kMost, 'x')));
  EXPECT_TRUE(answers.lookup("q499", {.vary = std::to_string(499 % 7)}));
  answers.clear();
  EXPECT_EQ(answers.stats().bytes, 0);
}

TEST(SemanticCache, ReportsOnScopesWithoutEntriesGoBeforeTheLastEntry) {
  constexpr std::int64_t kMost = 16 << 10;
  SemanticCache answers(fake(), {.threshold = 0.5, .max_bytes = kMost});
  for (int i = 0; i < 60; ++i) {
    const SemanticScope scope{.vary = std::string(100, 'v') + std::to_string(i)};
    const auto id = answers.store(kStored, "a", scope);
    ASSERT_TRUE(id) << i;
    ASSERT_TRUE(answers.lookup(kNear, scope));
    EXPECT_TRUE(answers.report_right(*id));
    EXPECT_LE(answers.stats().bytes, kMost);
    answers.clear();
  }
}

TEST(SemanticCache, TagsInvalidate) {
  SemanticCache answers(fake());
  answers.store({.prompt = "alnu", .answer = {.response = "x"}, .keep = {.tags = {"doc", "v1"}}});
  answers.store({.prompt = "brek", .answer = {.response = "x"}, .keep = {.tags = {"doc"}}});
  answers.store("cilo", "x");
  EXPECT_EQ(answers.invalidate("v1"), 1);
  EXPECT_FALSE(answers.lookup("alnu"));
  EXPECT_EQ(answers.invalidate("doc"), 1);
  EXPECT_EQ(answers.invalidate("doc"), 0);
  EXPECT_TRUE(answers.lookup("cilo"));
}

TEST(SemanticCache, RefusesOptionsThatMakeNoSense) {
  const auto code = [](const SemanticCacheOptions& options) {
    try {
      SemanticCache answers(fake(), options);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kIo;
  };
  EXPECT_EQ(code({.threshold = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.threshold = 1.01}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.threshold = std::numeric_limits<double>::quiet_NaN()}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.candidates = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.max_bytes = -1}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.ttl = milliseconds(0)}), ErrorCode::kInvalidArgument);
  EXPECT_THROW(SemanticCache(nullptr), Error);
}

}  // namespace
}  // namespace quire
