// SPDX-License-Identifier: Apache-2.0
#include "tests/generate/models.h"

#include <quire/error.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

namespace quire::test {
namespace {

namespace fs = std::filesystem;

fs::path tiny_path(const std::string& name) { return fs::path(QUIRE_TEST_DATA "/models") / name; }

}  // namespace

fs::path smollm2_file() {
  const char* home = std::getenv("QUIRE_HOME");
  const fs::path root =
      home && *home ? fs::path(home) : fs::path(std::getenv("HOME")) / ".cache" / "quire";
  fs::path file = root / "models" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf";
  if (fs::exists(file)) return file;
  throw std::runtime_error(file.string() + " is missing; run: quire pull smollm2");
}

std::shared_ptr<const Model> tiny_model(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Model>> loaded;
  auto& model = loaded[name];
  if (!model) model = Model::load(tiny_path(name), {.dtype = DType::kF32});
  return model;
}

const Json& tiny_reference(const std::string& name) {
  static std::map<std::string, Json> loaded;
  Json& json = loaded[name];
  if (json.is_null()) json = read_json_file(tiny_path(name) / "golden.json");
  return json;
}

std::shared_ptr<const Model> smollm2() {
  static std::shared_ptr<const Model> model;
  if (!model) model = Model::load(smollm2_file(), {.dtype = DType::kF32});
  return model;
}

const Json& smollm2_reference() {
  static const Json reference = read_json_file(QUIRE_TEST_DATA "/smollm2/smollm2.json");
  return reference;
}

std::optional<ErrorCode> code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.code();
  }
  return std::nullopt;
}

}  // namespace quire::test
