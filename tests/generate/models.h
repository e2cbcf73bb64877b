// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/error.h>
#include <quire/generator.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/json.h"

namespace quire::test {

// A model of tests/data/models in float32, loaded once, and what transformers made of it.
std::shared_ptr<const Model> tiny_model(const std::string& name);
const Json& tiny_reference(const std::string& name);

// The packaged SmolLM2's file. Throws, naming the command that fetches it, when it is not there.
std::filesystem::path smollm2_file();

// It in float32, loaded once.
std::shared_ptr<const Model> smollm2();
const Json& smollm2_reference();

// The code of the Error that `work` throws, if it throws one.
std::optional<ErrorCode> code_of(const std::function<void()>& work);

}  // namespace quire::test
