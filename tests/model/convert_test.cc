// SPDX-License-Identifier: Apache-2.0
// GGUF files as directories: what comes out is what went in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/convert.h>
#include <quire/dynamic_cache.h>

#include <stdexcept>

#include "kernels/half.h"
#include "model/convert_config.h"
#include "model/families.h"
#include "tests/model/converted_texts.h"
#include "tests/model/fixtures.h"
#include "tests/model/real_models.h"

namespace quire {
namespace {

using namespace quire::testing;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::vector<float> logits_of(const Model& model, const TokenIds& ids) {
  DynamicCache cache(model.kv_spec());
  return last_logits(model, ids, 0, cache);
}

std::vector<float> values_of(const TensorInfo& tensor) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < tensor.shape.size(); ++i) rows *= tensor.shape[i];
  std::vector<float> values(static_cast<std::size_t>(rows * tensor.shape.back()));
  dequantize_rows(tensor, 0, rows, values);
  return values;
}

// The names of everything in a folder.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ConvertedModel : public ::testing::TestWithParam<std::string> {
 protected:
  const fs::path file_ = kModels / (GetParam() + ".gguf");
  const ScratchFolder scratch_;
  const fs::path out_ = scratch_.path() / "out";
};

TEST_P(ConvertedModel, GivesTheSameLogitsToTheLastBit) {
  convert(file_, out_, {.dtype = DType::kF32});
  const auto from = load(file_);
  const auto to = load(out_);
  for (const TokenIds& prompt : read_golden(kModels / (GetParam() + ".json")).prompts) {
    SCOPED_TRACE("prompt of " + std::to_string(prompt.size()) + " tokens");
    EXPECT_EQ(logits_of(*to, prompt), logits_of(*from, prompt));
  }
  EXPECT_EQ(to->generation_defaults().eos, from->generation_defaults().eos);
  EXPECT_EQ(to->config().context, from->config().context);
}

TEST_P(ConvertedModel, GivesTheSameTokens) {
  convert(file_, out_);
  expect_same_tokens(*Tokenizer::load(file_), *Tokenizer::load(out_));
}

INSTANTIATE_TEST_SUITE_P(Models, ConvertedModel, ::testing::ValuesIn(gguf_names()),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class ConvertTest : public ::testing::Test {
 protected:
  const fs::path file_ = kModels / "gguf-qwen2.gguf";
  const ScratchFolder scratch_;
  const fs::path out_ = scratch_.path() / "out";
};

TEST_F(ConvertTest, BFloat16IsFloat32Rounded) {
  convert(file_, scratch_.path() / "wide", {.dtype = DType::kF32});
  const Converted made = convert(file_, out_);  // blocks become bfloat16
  const auto wide = Checkpoint::open(scratch_.path() / "wide");
  const auto narrow = Checkpoint::open(out_);
  ASSERT_EQ(narrow->tensors().size(), wide->tensors().size());
  EXPECT_EQ(static_cast<std::size_t>(made.tensors), narrow->tensors().size());
  std::int64_t bytes = 0;
  for (const TensorInfo& tensor : narrow->tensors()) {
    SCOPED_TRACE(tensor.name);
    bytes += static_cast<std::int64_t>(tensor.data.size());
    EXPECT_EQ(tensor.type, BlockType::kBF16);
    std::vector<float> expected = values_of(*wide->find(tensor.name));
    for (float& value : expected) value = float_from_bf16(bf16_from_float(value));
    EXPECT_EQ(values_of(tensor), expected);
  }
  EXPECT_EQ(made.bytes, bytes);
  EXPECT_EQ(load(out_, DType::kAuto)->dtype(), DType::kBF16);
}

TEST_F(ConvertTest, ShardsHoldTheSame) {
  convert(file_, scratch_.path() / "whole", {.dtype = DType::kF32});
  convert(file_, out_, {.dtype = DType::kF32, .shard_bytes = 20'000});
  const auto names = names_in(out_);
  EXPECT_GT(std::count_if(names.begin(), names.end(),
                          [](const auto& name) { return name.ends_with(".safetensors"); }),
            2);
  EXPECT_TRUE(fs::exists(out_ / "model.safetensors.index.json"));
  const TokenIds prompt = {3, 1, 4, 1, 5};
  EXPECT_EQ(logits_of(*load(out_), prompt), logits_of(*load(scratch_.path() / "whole"), prompt));
}

TEST_F(ConvertTest, SaysHowFarItIs) {
  std::vector<double> fractions;
  convert(file_, out_, {.progress = [&](double fraction) { fractions.push_back(fraction); }});
  EXPECT_GT(fractions.size(), 2U);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1);
}

TEST_F(ConvertTest, ThrowingProgressLeavesNothing) {
  const auto stop = [](double fraction) {
    if (fraction > 0.5) throw std::runtime_error("enough");
  };
  EXPECT_THROW(convert(file_, out_, {.progress = stop}), std::runtime_error);
  EXPECT_EQ(names_in(scratch_.path()), std::vector<std::string>{});
}

TEST_F(ConvertTest, RefusesAFolderWithFiles) {
  fs::create_directory(out_);
  testing::write_file(out_ / "mine", "text");
  EXPECT_THAT(error_of([&] { convert(file_, out_); }), HasSubstr("found files in it"));
  EXPECT_EQ(names_in(out_), std::vector<std::string>{"mine"});
  EXPECT_EQ(names_in(scratch_.path()), std::vector<std::string>{"out"});
}

TEST_F(ConvertTest, RefusesWhatIsNoGgufFile) {
  EXPECT_THAT(error_of([&] { convert(kModels / "llama", out_); }),
              HasSubstr("llama: expected a .gguf file"));
  EXPECT_THAT(error_of([&] { convert(kModels / "gguf-qwen2.json", out_); }),
              HasSubstr("gguf-qwen2.json: expected a .gguf file"));
  EXPECT_THAT(error_of([&] { convert(kModels / "none.gguf", out_); }), HasSubstr("none.gguf"));
  EXPECT_THAT(error_of([&] { convert(file_, out_, {.dtype = DType::kF16}); }), HasSubstr("f16"));
  EXPECT_THAT(error_of([&] { convert(file_, out_, {.shard_bytes = 0}); }),
              HasSubstr("shard_bytes"));
  EXPECT_EQ(names_in(scratch_.path()), std::vector<std::string>{});
}

// Only quire::Error leaves the library.
TEST_F(ConvertTest, RefusesPathsThatCannotBe) {
  const std::string name(300, 'n');  // longer than any file system takes
  EXPECT_THAT(error_of([&] { convert(scratch_.path() / name, out_); }), HasSubstr("cannot open"));
  EXPECT_THAT(error_of([&] { convert(file_, scratch_.path() / name); }), HasSubstr("cannot"));
  EXPECT_THAT(error_of([&] { convert(file_, ""); }), HasSubstr("cannot find it"));
  EXPECT_EQ(names_in(scratch_.path()), std::vector<std::string>{});
}

TEST(ConvertedSmolLM2, GivesTheSameTokensAndTemplate) {
  const fs::path file = packaged("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf");
  const ScratchFolder scratch;
  convert_tokenizer(file, scratch.path());
  expect_same_tokens(*Tokenizer::load(file), *Tokenizer::load(scratch.path()));
  const std::vector<Message> messages = {{.role = "user", .content = "Hello"}};
  const RenderOptions options = {.add_generation_prompt = true};
  EXPECT_EQ(ChatTemplate::load(scratch.path())->render(messages, options),
            ChatTemplate::load(file)->render(messages, options));
}

// The writer of config.json is the reader's inverse for every family and rope: config_json_of
// checks that by itself.
TEST(ConvertedConfig, EveryConfigSurvives) {
  std::vector<std::string_view> unseen;
  for (const Family& family : families()) unseen.push_back(family.model_type);
  for (const std::string& name : model_names()) {
    SCOPED_TRACE(name);
    const ModelConfig config = parse_model_config(*Checkpoint::open(kModels / name));
    Json json;
    ASSERT_NO_THROW(json = config_json_of(config, DType::kBF16, 0, name));
    EXPECT_EQ(json.at("model_type"), config.architecture);
    EXPECT_EQ(json.at("architectures").size(), 1U);
    EXPECT_EQ(json.at("torch_dtype"), "bfloat16");
    std::erase(unseen, config.architecture);
  }
  EXPECT_THAT(unseen, ::testing::IsEmpty());
}

TEST(ConvertedConfig, RefusesWhatItCannotSay) {
  const ModelConfig llama = parse_model_config(*Checkpoint::open(kModels / "llama"));
  ModelConfig capped = llama;
  capped.logits_softcap = 30;
  EXPECT_THAT(error_of([&] { config_json_of(capped, DType::kF32, -1, "file"); }),
              HasSubstr("file: a config.json of model_type llama cannot describe this model"));
  ModelConfig part = llama;
  part.rope.dims /= 2;
  EXPECT_THAT(error_of([&] { config_json_of(part, DType::kF32, -1, "file"); }),
              HasSubstr("file: rope.dimension_count: transformers' llama rotates whole heads"));
}

TEST(ConvertedConfig, LlamaWithAWindowIsMistral) {
  ModelConfig config = parse_model_config(*Checkpoint::open(kModels / "llama"));
  EXPECT_EQ(directory_config(config).architecture, "llama");
  config.windows.assign(config.windows.size(), 100);
  config = directory_config(config);
  EXPECT_EQ(config.architecture, "mistral");
  EXPECT_EQ(config_json_of(config, DType::kF32, -1, "file").at("sliding_window"), 100);
}

TEST(ConvertedConfig, GenerationDefaultsSurvive) {
  GenerationDefaults defaults;
  defaults.eos = {2, 5};
  defaults.do_sample = true;
  defaults.sampling.temperature = 0.6;
  defaults.sampling.top_k = 20;
  defaults.sampling.top_p = 0.95;
  const Json json = generation_json_of({}, defaults, 7);
  EXPECT_EQ(json.at("eos_token_id"), Json({2, 5}));
  EXPECT_EQ(json.at("bos_token_id"), nullptr);
  EXPECT_EQ(json.at("pad_token_id"), 7);
  EXPECT_EQ(json.at("temperature"), 0.6);
  EXPECT_EQ(json.at("top_k"), 20);
  EXPECT_EQ(json.at("top_p"), 0.95);
  EXPECT_FALSE(json.contains("min_p"));
}

}  // namespace
}  // namespace quire
