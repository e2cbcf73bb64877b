// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "text/chat_messages.h"

namespace quire {

// The chat templates a model's files hold, and the texts of its special tokens.
struct TemplateFiles {
  std::string subject;                    // the file, for messages
  std::optional<std::string> plain;       // the only template, or the one named "default"
  std::optional<std::string> with_tools;  // the one named "tool_use"
  std::string others;                     // names of further ones, for messages
  TemplateVariables tokens;               // bos_token, eos_token, …: those that there are
};

// From a Hugging Face directory (chat_template.jinja and additional_chat_templates/, else
// tokenizer_config.json, else chat_template.json; tokens from tokenizer_config.json, else
// special_tokens_map.json), one of its files, or a .gguf file. Empty when there are none.
// Throws Error kNotFound, kIo, or kCorrupt naming file and key.
TemplateFiles read_template_files(const std::filesystem::path& path);

}  // namespace quire
