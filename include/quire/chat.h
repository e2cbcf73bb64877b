// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <quire/export.h>

namespace quire {

// A mark at the end of a message: what lies before it is computed once and kept for `ttl` after its
// last use, for every conversation that begins with it. As in hosted services, a conversation may
// have up to four; see Usage and PromptCacheOptions::min_cacheable.
struct CacheControl {
  std::chrono::milliseconds ttl = std::chrono::minutes(5);
};

// One message of a conversation.
struct Message {
  std::string role;
  std::string content;
  // A JSON object with whatever else the message carries (tool_calls, tool_call_id, name,
  // reasoning_content, content as a list of parts, …), as Hugging Face templates see it. A key
  // given here wins over the fields above, also when it is null: null keys are dropped. With
  // fields, an empty role or content above counts as not given. Keys keep their order.
  // A generator takes "cache_control" out of it, and out of the parts of a content: a mark there,
  // {"type": "ephemeral", "ttl": "5m"} (s, m, h, d, or a number of seconds).
  std::string fields_json = {};
  std::optional<CacheControl> cache_control = std::nullopt;
};

struct RenderOptions {
  std::string tools_json = {};      // JSON array of tools; empty: none
  std::string documents_json = {};  // JSON array of documents; empty: none
  std::string kwargs_json = {};     // JSON object of further variables
  bool add_generation_prompt = false;
  bool continue_final_message = false;
  // What strftime_now() and date functions see; none: the system's clock in local time.
  std::optional<std::tm> now = std::nullopt;
};

// Limits that hold for one render; exceeding one is Error kTemplate.
struct TemplateLimits {
  std::int64_t max_steps = 10'000'000;          // evaluated nodes
  int max_depth = 200;                          // nested calls, blocks and expressions
  std::size_t max_output_bytes = 64u << 20;     // rendered text and all values alive with it
};

struct TemplateOptions {
  std::string name = "chat_template";                  // appears in messages
  std::optional<std::string> bos_token = std::nullopt;  // none: undefined in the template
  std::optional<std::string> eos_token = std::nullopt;
  TemplateLimits limits = {};
};

// A chat template: the Jinja of Hugging Face's `chat_template`, run by an interpreter that behaves
// as transformers' sandboxed environment does (trim_blocks, lstrip_blocks, loop controls,
// raise_exception, strftime_now, tojson, the generation tag).
//
// Thread-safety: immutable after parsing; render concurrently.
class QUIRE_EXPORT ChatTemplate {
 public:
  // Parses the template source. Throws Error kTemplate for a syntax error, with its line.
  static std::shared_ptr<const ChatTemplate> parse(std::string_view source,
                                                   const TemplateOptions& options = {});

  // The template that a model's files hold: chat_template.jinja (and additional_chat_templates/),
  // else tokenizer_config.json (a string, or named ones: "default", and "tool_use" for renders with
  // tools), else chat_template.json, or GGUF metadata; with the texts of BOS, EOS and the other
  // special tokens that the same files declare.
  // nullptr when the files hold none. Throws Error for files that cannot be read.
  static std::shared_ptr<const ChatTemplate> load(const std::filesystem::path& path,
                                                  const TemplateLimits& limits = {});

  ~ChatTemplate();

  // The rendered conversation. Throws Error kTemplate (the template raised: what() is then just its
  // message; an unknown filter was reached; a limit was hit) or kInvalidArgument (JSON that does
  // not parse).
  std::string render(std::span<const Message> messages, const RenderOptions& options = {}) const;

  // Any Jinja text with any context (a JSON object): no chat conventions around it.
  std::string render_raw(std::string_view context_json,
                         std::optional<std::tm> now = std::nullopt) const;

  std::string_view source() const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace quire
