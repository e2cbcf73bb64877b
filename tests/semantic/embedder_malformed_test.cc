// SPDX-License-Identifier: Apache-2.0
// Every file of a sentence encoder with one thing wrong: loading and inspecting say what.
#include <gmock/gmock.h>
#include <quire/inspect.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "io/read_file.h"
#include "tests/semantic/encoders.h"

namespace quire {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::kEncoders;

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A copy of an encoder, removed with the object.
class Copy {
 public:
  explicit Copy(const std::string& name) {
    std::string pattern = (fs::temp_directory_path() / "encoder-XXXXXX").native();
    path = mkdtemp(pattern.data());
    fs::copy(kEncoders / name, path,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  ~Copy() { fs::remove_all(path); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  void edit(const std::string& file, const std::function<void(Json&)>& change) const {
    Json json = read_json_file(path / file);
    change(json);
    write(path / file, json.dump());
  }
  void set(const std::string& file, const std::string& key, const Json& value) const {
    edit(file, [&](Json& json) { json[key] = value; });
  }

  fs::path path;
};

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return "no error";
}

// What loading says; inspecting must say the same.
std::string refusal(const fs::path& path) {
  const std::string loading = error_of([&] { Embedder::load(path, {.threads = 1}); });
  if (fs::exists(path / "modules.json")) {
    EXPECT_EQ(error_of([&] { inspect(path); }), loading);
  }
  return loading;
}

struct Fault {
  std::string file, key;
  Json value;
  std::string code, mention;
};

TEST(EmbedderMalformed, ConfigsAreRefusedByKey) {
  const std::string pooling = "1_Pooling/config.json";
  const std::string sentence = "sentence_bert_config.json";
  const std::vector<Fault> faults = {
      {"config.json", "model_type", "t5", "Unsupported", "t5"},
      {"config.json", "model_type", nullptr, "Corrupt", "model_type"},
      {"config.json", "hidden_act", "relu", "Unsupported", "relu"},
      {"config.json", "position_embedding_type", "relative_key", "Unsupported", "relative_key"},
      {"config.json", "is_decoder", true, "Unsupported", "is_decoder"},
      {"config.json", "num_attention_heads", 5, "Corrupt", "num_attention_heads"},
      {"config.json", "num_attention_heads", 0, "Corrupt", "num_attention_heads"},
      {"config.json", "num_hidden_layers", 3, "NotFound", "encoder.layer.2."},
      {"config.json", "num_hidden_layers", 1e12, "Corrupt", "num_hidden_layers"},
      {"config.json", "hidden_size", 52, "Corrupt", "word_embeddings"},
      {"config.json", "vocab_size", 201, "Corrupt", "[201, 48]"},
      {"config.json", "max_position_embeddings", 64, "Corrupt", "position_embeddings"},
      {"config.json", "type_vocab_size", 3, "Corrupt", "token_type_embeddings"},
      {"config.json", "intermediate_size", 97, "Corrupt", "intermediate.dense"},
      {"config.json", "layer_norm_eps", -1, "Corrupt", "layer_norm_eps"},
      {"config.json", "quantization_config", {{"quant_method", "gptq"}}, "Unsupported", "gptq"},
      {pooling, "pooling_mode", "attention", "Unsupported", "attention"},
      {pooling, "pooling_mode", Json::array(), "Corrupt", "pooling_mode"},
      {pooling, "pooling_mode_mean_tokens", false, "Corrupt", "pooling_mode"},
      {pooling, "pooling_mode_mean_tokens", "yes", "Corrupt", "pooling_mode_mean_tokens"},
      {sentence, "max_seq_length", 0, "Corrupt", "max_seq_length"},
      {sentence, "max_seq_length", "long", "Corrupt", "max_seq_length"},
      {sentence, "do_lower_case", 3, "Corrupt", "do_lower_case"},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.file + ' ' + fault.key + ' ' + fault.value.dump());
    const Copy copy("bert-mean");
    copy.set(fault.file, fault.key, fault.value);
    const std::string said = refusal(copy.path);
    EXPECT_THAT(said, HasSubstr(fault.code + ": "));
    EXPECT_THAT(said, HasSubstr(fault.mention));
  }
}

TEST(EmbedderMalformed, OtherFamiliesAreRefusedByKey) {
  const Copy roberta("xlm-roberta-mean");
  roberta.set("config.json", "pad_token_id", 65);
  EXPECT_THAT(refusal(roberta.path), HasSubstr("max_position_embeddings"));
  roberta.set("config.json", "pad_token_id", -1);
  EXPECT_THAT(refusal(roberta.path), HasSubstr("pad_token_id"));
  const Copy mpnet("mpnet-mean");
  mpnet.set("config.json", "relative_attention_num_buckets", 16);
  EXPECT_THAT(refusal(mpnet.path), HasSubstr("Unsupported: "));
  const Copy distil("distilbert-mean");
  distil.set("config.json", "n_heads", 7);
  EXPECT_THAT(refusal(distil.path), HasSubstr("n_heads"));
  // A BERT that calls itself DistilBERT has other keys and other tensors.
  const Copy bert("bert-mean");
  bert.set("config.json", "model_type", "distilbert");
  EXPECT_THAT(refusal(bert.path), HasSubstr("Corrupt: "));
}

TEST(EmbedderMalformed, ModulesAreRefusedByName) {
  const auto said_of = [](const std::function<void(Json&)>& change) {
    const Copy copy("bert-mean");
    copy.edit("modules.json", change);
    return refusal(copy.path);
  };
  const auto said_of_type = [&](const char* type) {
    return said_of([&](Json& modules) { modules[1]["type"] = type; });
  };
  EXPECT_THAT(said_of_type("sentence_transformers.models.Dense"), HasSubstr("models.Dense"));
  EXPECT_THAT(said_of_type("mine.Pooling"), HasSubstr("Unsupported: "));
  EXPECT_THAT(said_of_type("sentence_transformers.models.Normalize"),
              HasSubstr("Transformer, Normalize, Normalize"));
  EXPECT_THAT(said_of([](Json& modules) { modules = Json::array(); }), HasSubstr("found none"));
  EXPECT_THAT(said_of([](Json& modules) { modules = 3; }), HasSubstr("Corrupt: "));
  EXPECT_THAT(said_of([](Json& modules) { modules[0] = 3; }), HasSubstr("Corrupt: "));
  EXPECT_THAT(said_of([](Json& modules) { modules[0].erase("type"); }), HasSubstr("type"));
  EXPECT_THAT(said_of([](Json& modules) { modules[1]["path"] = "../x"; }), HasSubstr("../x"));
  EXPECT_THAT(said_of([](Json& modules) { modules[1]["path"] = "/etc"; }), HasSubstr("/etc"));
  EXPECT_THAT(said_of([](Json& modules) { modules.erase(1); }), HasSubstr("Unsupported: "));
}

TEST(EmbedderMalformed, MissingFilesAreNamed) {
  for (const char* file :
       {"config.json", "model.safetensors", "1_Pooling/config.json", "modules.json"}) {
    const Copy copy("bert-mean");
    fs::remove(copy.path / file);
    const std::string said = refusal(copy.path);
    EXPECT_THAT(said, HasSubstr("NotFound: "));
    EXPECT_THAT(said, HasSubstr(file));
  }
  EXPECT_THAT(refusal(kEncoders / "no-such"), HasSubstr("NotFound: "));
  EXPECT_THAT(refusal(kEncoders / "bert-mean" / "golden.json"), HasSubstr("Unsupported: "));
}

TEST(EmbedderMalformed, ADecoderIsUnsupported) {
  const fs::path models = fs::path(QUIRE_TEST_DATA) / "models";
  const std::string said = refusal(models / "llama");
  EXPECT_THAT(said, HasSubstr("Unsupported: "));
  EXPECT_THAT(said, HasSubstr("llama"));
  EXPECT_THAT(refusal(models / "gguf-qwen2.gguf"), HasSubstr("Unsupported: "));
}

// Renames a tensor in a safetensors file, the length of its name kept.
void rename_tensor(const fs::path& file, const std::string& from, const std::string& to) {
  std::string bytes = read_file(file);
  const std::size_t at = bytes.find('"' + from + '"');
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(from.size(), to.size());
  bytes.replace(at + 1, from.size(), to);
  write(file, bytes);
}

TEST(EmbedderMalformed, MissingTensorsAreNamed) {
  for (const std::string name :
       {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight",
        "embeddings.LayerNorm.bias", "encoder.layer.1.attention.self.key.bias",
        "encoder.layer.0.output.LayerNorm.weight"}) {
    const Copy copy("bert-mean");
    rename_tensor(copy.path / "model.safetensors", name, "x" + name.substr(1));
    const std::string said = refusal(copy.path);
    EXPECT_THAT(said, HasSubstr("NotFound: "));
    EXPECT_THAT(said, HasSubstr(name));
  }
}

TEST(EmbedderMalformed, IdsAndTextsAreChecked) {
  const auto embedder = Embedder::load(kEncoders / "bert-mean", {.threads = 1});
  const auto said = [&](const TokenIds& ids) {
    return error_of([&] { embedder->embed_ids(ids); });
  };
  EXPECT_THAT(said({}), HasSubstr("InvalidArgument: "));
  EXPECT_THAT(said({3, 200}), HasSubstr("200"));
  EXPECT_THAT(said({-1}), HasSubstr("InvalidArgument: "));
  EXPECT_THAT(said(TokenIds(67, 5)), HasSubstr("ContextOverflow: "));
  EXPECT_EQ(said(TokenIds(66, 5)), "no error");
  EXPECT_THAT(error_of([&] { embedder->embed("text"); }), HasSubstr("tokenizer.json"));
}

TEST(EmbedderMalformed, TextsNeedRoomAmongTheTokensAroundThem) {
  const Copy copy("bert-text");
  copy.set("sentence_bert_config.json", "max_seq_length", 2);
  const std::string said = error_of([&] { Embedder::load(copy.path, {.threads = 1}); });
  EXPECT_THAT(said, HasSubstr("Corrupt: "));
  EXPECT_THAT(said, HasSubstr("max_seq_length"));
  copy.set("sentence_bert_config.json", "max_seq_length", 3);
  const auto embedder = Embedder::load(copy.path, {.threads = 1});
  EXPECT_EQ(embedder->embed_in_detail("a b").ids.size(), 3U);
}

TEST(EmbedderMalformed, WeightsThatAreNoNumbersAreReported) {
  const Copy copy("bert-mean");
  const fs::path file = copy.path / "model.safetensors";
  std::string bytes = read_file(file);
  // Eight bytes of the header's length, the header, the tensors from there on.
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const Json tensors = Json::parse(bytes.substr(sizeof(header), header));
  const std::size_t offset = tensors["embeddings.LayerNorm.bias"]["data_offsets"][0];
  const float nan = std::nanf("");
  std::memcpy(bytes.data() + sizeof(header) + header + offset, &nan, sizeof(nan));
  write(file, bytes);
  const auto embedder = Embedder::load(copy.path, {.threads = 1});
  EXPECT_THAT(error_of([&] { embedder->embed_ids(TokenIds{5, 6}); }), HasSubstr("BadNumber: "));
}

}  // namespace
}  // namespace quire
