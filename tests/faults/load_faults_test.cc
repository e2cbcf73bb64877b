// SPDX-License-Identifier: Apache-2.0
// Files that are read, and files made of them: models, tokenizers, conversions.
#include <quire/convert.h>
#include <quire/tokenizer.h>

#include "tests/faults/survive.h"

namespace quire::faults {
namespace {

namespace fs = std::filesystem;

const fs::path kData = QUIRE_TEST_DATA;

class LoadFaults : public ::testing::TestWithParam<const char*> {};

TokenIds answer_of(const std::shared_ptr<const Model>& model) {
  Generator generator(model, {.threads = 1});
  Request request;
  request.ids = TokenIds{5, 9, 2, 7, 7, 3};
  request.max_new_tokens = 4;
  request.ignore_eos = true;
  return generator.generate(request).ids;
}

using ModelLoad = LoadFaults;

TEST_P(ModelLoad, GivesTheWholeModelOrAnError) {
  const fs::path path = kData / GetParam();
  const ModelOptions options{.dtype = DType::kF32, .threads = 1};
  const TokenIds expected = answer_of(Model::load(path, options));
  std::shared_ptr<const Model> model;
  survive({kFileCalls, kMemoryCalls},
          {[&] { model.reset(); }, [&] { model = Model::load(path, options); },
           [&](bool failed) {
             if (failed) model = Model::load(path, options);
             EXPECT_EQ(answer_of(model), expected);
           }});
}

INSTANTIATE_TEST_SUITE_P(Files, ModelLoad,
                         ::testing::Values("chat", "models/llama", "models/gguf-qwen2.gguf"));

using TokenizerLoad = LoadFaults;

TEST_P(TokenizerLoad, GivesTheSameIdsOrAnError) {
  const fs::path path = kData / "tokenizers" / GetParam();
  const std::string text = "Hello, w\xC3\xB6rld 42!";
  const TokenIds expected = Tokenizer::load(path)->encode(text);
  TokenIds ids;
  const auto use = [&] { ids = Tokenizer::load(path)->encode(text); };
  const Operation operation{[] {}, use,
                            [&](bool failed) {
                              if (failed) use();
                              EXPECT_EQ(ids, expected);
                            }};
  survive({kFileCalls}, operation);
  // SentencePiece itself crashes where it finds no memory.
  if (!path.filename().native().starts_with("sentencepiece")) survive({kMemoryCalls}, operation);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenizerLoad,
                         ::testing::Values("bytelevel-gpt2", "metaspace-bpe-llama2",
                                           "sentencepiece-bpe-llama", "unigram-xlmr",
                                           "wordpiece-uncased"));

// A folder appears complete or not at all.
TEST(Convert, LeavesNothingHalf) {
  const test::TemporaryFolder folder;
  const fs::path file = kData / "models/gguf-qwen2.gguf";
  const fs::path out = folder.path() / "out";
  const auto use = [&] { convert(file, out, {.dtype = DType::kF32}); };
  const TokenIds expected = answer_of(Model::load(file, {.dtype = DType::kF32}));
  survive({kFileCalls, kMemoryCalls}, {[&] { empty(folder.path()); }, use,
                                       [&](bool failed) {
                                         if (failed && !fs::exists(out)) use();
                                         EXPECT_EQ(files_in(folder.path()), std::vector{out});
                                         EXPECT_EQ(answer_of(Model::load(out)), expected);
                                       }});
}

}  // namespace
}  // namespace quire::faults
