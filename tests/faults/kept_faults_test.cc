// SPDX-License-Identifier: Apache-2.0
// What is kept from one request to the next: snapshots and their files, conversations, documents,
// prompts by name.
#include <gmock/gmock.h>
#include <quire/dynamic_cache.h>
#include <quire/knowledge_cache.h>
#include <quire/page_pool.h>
#include <quire/prompt_cache.h>
#include <quire/session.h>
#include <quire/snapshot.h>

#include "tests/faults/survive.h"

namespace quire::faults {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TokenIds ids_of(const Snapshot& snapshot) { return {snapshot.ids().begin(), snapshot.ids().end()}; }

class SnapshotFaults : public Faults {
 protected:
  void expect_goes_on(const Snapshot& snapshot, std::size_t prompt) {
    Request request = request_of(prompt);
    request.snapshot = snapshot;
    request.ids = TokenIds{};
    EXPECT_EQ(generator_.generate(request).ids, reference_ids(prompt));
  }

  const fs::path file_ = folder_.path() / "snapshot.quire";
};

TEST_F(SnapshotFaults, Save) {
  const Snapshot old = generator_.prefill(request_of(0));
  const Snapshot fresh = generator_.prefill(request_of(1));
  survive({kFileCalls, kMemoryCalls},
          {[&] { old.save(file_); }, [&] { fresh.save(file_); },
           [&](bool failed) {
             const TokenIds ids = ids_of(Snapshot::load(file_, *model_));
             EXPECT_TRUE(ids == ids_of(fresh) || (failed && ids == ids_of(old)));
             EXPECT_THAT(files_in(folder_.path()), ElementsAre(file_));
           }});
}

TEST_F(SnapshotFaults, Load) {
  generator_.prefill(request_of(0)).save(file_);
  const auto use = [&] { expect_goes_on(Snapshot::load(file_, *model_), 0); };
  survive({kFileCalls, kMemoryCalls}, {[] {}, use, [&](bool) { use(); }});
}

TEST_F(SnapshotFaults, PromptCache) {
  const auto pool = std::make_shared<PagePool>(model_->kv_spec());
  const auto prefill = [&](std::size_t prompt) {
    return generator_.prefill(request_of(prompt), std::make_unique<DynamicCache>(pool));
  };
  std::unique_ptr<PromptCache> prompts;
  Snapshot snapshots[3];
  const auto works = [&] {
    for (const std::size_t prompt : {0, 1, 2}) {
      EXPECT_TRUE(prompts->put(std::to_string(prompt), snapshots[prompt]));
      EXPECT_LE(prompts->stats().entries, 2);
      expect_goes_on(prompts->get(std::to_string(prompt)), prompt);
    }
  };
  survive({kMemoryCalls}, {[&] {
                             using enum PromptCacheOptions::Eviction;
                             prompts = std::make_unique<PromptCache>(PromptCacheOptions{
                                 .max_entries = 2, .eviction = kLeastRecentlyUsed});
                             for (const std::size_t i : {0, 1, 2}) snapshots[i] = prefill(i);
                             prompts->put("0", snapshots[0]);
                             prompts->put("1", snapshots[1]);
                           },
                           [&] {
                             expect_goes_on(prompts->get("0"), 0);
                             prompts->put("2", snapshots[2]);
                             prompts->put("0", snapshots[0]);
                             const PromptMatch match =
                                 prompts->lookup(prefix_model(), *request_of(2).ids);
                             EXPECT_EQ(match.key, "2");
                             prompts->remove("0");
                           },
                           [&](bool) {
                             for (const std::size_t prompt : {0, 1, 2}) {
                               const Snapshot found = prompts->get(std::to_string(prompt));
                               if (found) expect_goes_on(found, prompt);
                             }
                             works();
                             prompts->clear();
                             for (Snapshot& snapshot : snapshots) snapshot = {};
                             EXPECT_EQ(prompts->stats().bytes, 0);
                             EXPECT_EQ(pool->used_bytes(), 0);
                           }});
}

// With a tokenizer and a chat template.
class ChatFaults : public ::testing::Test {
 protected:
  using Ids = std::vector<TokenIds>;

  static Request settings() {
    Request request;
    request.max_new_tokens = 3;
    request.ignore_eos = true;
    return request;
  }

  // The answer to a conversation as if nothing had been kept.
  TokenIds answer_to(std::vector<Message> messages, const std::string& more) {
    Request request = settings();
    messages.push_back({"user", more});
    request.messages = std::move(messages);
    request.prefix_cache = false;
    return generator_.generate(request).ids;
  }
  void expect_goes_on(Session& session) {
    const TokenIds expected = answer_to(session.messages(), "More");
    EXPECT_EQ(session.say("More", settings()).ids, expected);
  }
  void expect_no_pages_of_others() {
    expect_no_pages(*generator_.prefix_cache(), {model_->fingerprint(), model_->kv_spec()});
  }

  const test::TemporaryFolder folder_;
  const fs::path file_ = folder_.path() / "kept.quire";
  const std::shared_ptr<const Model> model_ = Model::load(QUIRE_TEST_DATA "/chat");
  Generator generator_{model_, {.threads = 1}};
};

TEST_F(ChatFaults, Say) {
  std::unique_ptr<Session> session;
  std::size_t before = 0;
  survive({kMemoryCalls}, {[&] {
                             session = std::make_unique<Session>(generator_);
                             session->say("Hi", settings());
                             before = session->messages().size();
                           },
                           [&] { session->say("And?", settings()); },
                           [&](bool failed) {
                             EXPECT_EQ(session->messages().size(), before + (failed ? 0 : 2));
                             expect_goes_on(*session);
                             session.reset();
                             expect_no_pages_of_others();
                           }});
}

TEST_F(ChatFaults, FirstWords) {
  std::unique_ptr<Session> session;
  survive({kMemoryCalls}, {[&] { session = std::make_unique<Session>(generator_); },
                           [&] { session->say("Hi", settings()); },
                           [&](bool failed) {
                             EXPECT_EQ(session->messages().size(), failed ? 0 : 2);
                             expect_goes_on(*session);
                             session.reset();
                             expect_no_pages_of_others();
                           }});
}

TEST_F(ChatFaults, SessionSaveAndLoad) {
  Session old(generator_);
  old.say("Old", settings());
  Session fresh(generator_);
  fresh.say("Fresh", settings());
  std::unique_ptr<Session> session;
  survive({kFileCalls, kMemoryCalls}, {[&] {
                                         old.save(file_);
                                         session = std::make_unique<Session>(generator_);
                                         session->say("Mine", settings());
                                       },
                                       [&] {
                                         fresh.save(file_);
                                         session->load(file_);
                                       },
                                       [&](bool failed) {
                                         EXPECT_EQ(session->messages()[0].content,
                                                   failed ? "Mine" : "Fresh");
                                         expect_goes_on(*session);
                                         session->load(file_);
                                         EXPECT_NE(session->messages()[0].content, "Mine");
                                         expect_goes_on(*session);
                                         EXPECT_THAT(files_in(folder_.path()), ElementsAre(file_));
                                       }});
}

TEST_F(ChatFaults, Knowledge) {
  const KnowledgeOptions options{.texts = {"The lid opens to the left."}, .snapshot = file_};
  const auto ask = [&] {
    const KnowledgeCache manual(generator_, options);
    return Ids{manual.ask("Where?", settings()).ids, manual.ask("Why?", settings()).ids};
  };
  const Ids expected = ask();
  const Operation operation{[] {}, [&] { EXPECT_EQ(ask(), expected); },
                            [&](bool) {
                              EXPECT_EQ(ask(), expected);
                              EXPECT_THAT(files_in(folder_.path()), ElementsAre(file_));
                            }};
  survive({kFileCalls, kMemoryCalls}, operation);  // that it loads
  survive({kFileCalls, kMemoryCalls},
          {[&] { empty(folder_.path()); }, operation.run, operation.after});  // that it reads
}

}  // namespace
}  // namespace quire::faults
