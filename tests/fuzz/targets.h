// SPDX-License-Identifier: Apache-2.0
// What is fuzzed: each target reads one hostile input through the public interface. A typed
// quire::Error is an answer; any other exception, and whatever a sanitizer stops, is a finding.
//
// Thread-safety: none; one process fuzzes one target.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace quire::fuzz {

using Target = void (*)(std::string_view input);

struct NamedTarget {
  std::string_view name;
  Target run;
};

std::span<const NamedTarget> targets();

// nullptr: no such target.
Target find_target(std::string_view name);

// Files of models, `input` being one of them.
void gguf(std::string_view input);         // a .gguf: tensors, configuration, tokenizer, template
void safetensors(std::string_view input);  // model.safetensors
void shard_index(std::string_view input);  // model.safetensors.index.json
void config(std::string_view input);       // config.json
void tokenizer_json(std::string_view input);  // tokenizer.json; then encodes some texts
void sentencepiece(std::string_view input);   // tokenizer.model; likewise
void chat_template(std::string_view input);   // Jinja, rendered over a conversation
void snapshot(std::string_view input);        // edits of a saved snapshot: see snapshot.cc

// A text, through one tokenizer of each kind: byte-level ones must give it back.
void text(std::string_view input);

// A folder of this process's own, removed when it ends.
const std::filesystem::path& scratch_folder();

// Puts a file there, in place of one that is there.
std::filesystem::path write_scratch(std::string_view name, std::string_view bytes);

}  // namespace quire::fuzz
