// SPDX-License-Identifier: Apache-2.0
// What is fuzzed: each target reads one hostile input through the public interface. A typed
// quire::Error is an answer; any other exception, and whatever a sanitizer stops, is a finding.
// Each says whether the input was refused with one.
//
// Thread-safety: none; one process fuzzes one target.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace quire::fuzz {

using Target = bool (*)(std::string_view input);

struct NamedTarget {
  std::string_view name;
  Target run;
};

// Those of this program: targets.cc has the library's, server.cc the server's.
std::span<const NamedTarget> targets();

// nullptr: no such target.
inline Target find_target(std::string_view name) {
  for (const NamedTarget& target : targets()) {
    if (target.name == name) return target.run;
  }
  return nullptr;
}

// Files of models, `input` being one of them.
bool gguf(std::string_view input);         // a .gguf: tensors, configuration, tokenizer, template
bool safetensors(std::string_view input);  // model.safetensors
bool shard_index(std::string_view input);  // model.safetensors.index.json
bool config(std::string_view input);       // config.json
bool tokenizer_json(std::string_view input);  // tokenizer.json; then encodes some texts
bool sentencepiece(std::string_view input);   // tokenizer.model; likewise
bool chat_template(std::string_view input);   // Jinja, rendered over a conversation
bool snapshot(std::string_view input);        // edits of a saved snapshot: see snapshot.cc

// A text, through one tokenizer of each kind: byte-level ones must give it back.
bool text(std::string_view input);

// A folder of this process's own, removed when it ends.
const std::filesystem::path& scratch_folder();

// Puts a file there, in place of one that is there.
std::filesystem::path write_scratch(std::string_view name, std::string_view bytes);

}  // namespace quire::fuzz
