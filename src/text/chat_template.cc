// SPDX-License-Identifier: Apache-2.0
#include <quire/chat.h>
#include <quire/error.h>

#include "io/utf8.h"
#include "text/chat_messages.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/json.h"
#include "text/jinja/parser.h"
#include "text/template_files.h"

namespace quire {
namespace {

// An exception the template raised says just what the template says; everything else says where.
[[noreturn]] void throw_error(const jinja::Failure& failure, std::string_view name) {
  if (failure.kind == jinja::FailureKind::kRaised) {
    throw Error(ErrorCode::kTemplate, "", failure.what());
  }
  std::string problem = failure.what();
  if (failure.line > 0) problem = "line " + std::to_string(failure.line) + ": " + problem;
  throw Error(ErrorCode::kTemplate, name, problem);
}

// One parsed source.
class Source {
 public:
  Source(std::string_view text, const TemplateOptions& options)
      : text_(text), name_(options.name), limits_(options.limits) {
    if (!is_utf8(text)) throw Error(ErrorCode::kTemplate, name_, "expected UTF-8 text");
    try {
      template_ = jinja::parse_template(text, limits_);
    } catch (const jinja::Failure& failure) {
      throw_error(failure, name_);
    }
  }

  std::string render(const jinja::Value& context, const std::optional<std::tm>& now) const {
    jinja::Budget budget(limits_);
    try {
      std::string text;
      {
        const Cleanup cleanup{budget};
        jinja::Interpreter interpreter(*template_, budget, context, now ? *now : local_time());
        text = interpreter.render();
      }
      if (!is_utf8(text)) {
        throw Error(ErrorCode::kTemplate, name_, "the text has surrogates: it is no valid Unicode");
      }
      return text;
    } catch (const jinja::Failure& failure) {
      throw_error(failure, name_);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::kOutOfMemory, name_, "the host refused memory for a render");
    }
  }

  const std::string& text() const { return text_; }

 private:
  // Also when a render fails, what refers to itself is taken apart.
  struct Cleanup {
    jinja::Budget& budget;
    ~Cleanup() { budget.break_cycles(); }
  };

  static std::tm local_time() {
    const std::time_t seconds = std::time(nullptr);
    std::tm time{};
    localtime_r(&seconds, &time);
    return time;
  }

  std::string text_;
  std::string name_;
  TemplateLimits limits_;
  std::unique_ptr<const jinja::Template> template_;
};

}  // namespace

struct ChatTemplate::Impl {
  std::optional<Source> plain;
  std::optional<Source> with_tools;
  TemplateVariables tokens;
  std::string missing;  // what to say when there is no default template

  const Source& source(bool tools) const {
    if (tools && with_tools) return *with_tools;
    if (!plain) throw Error(ErrorCode::kTemplate, "chat_template", missing);
    return *plain;
  }
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::~ChatTemplate() = default;

std::shared_ptr<const ChatTemplate> ChatTemplate::parse(std::string_view source,
                                                        const TemplateOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->plain.emplace(source, options);
  if (options.bos_token) impl->tokens.emplace_back("bos_token", *options.bos_token);
  if (options.eos_token) impl->tokens.emplace_back("eos_token", *options.eos_token);
  return std::shared_ptr<const ChatTemplate>(new ChatTemplate(std::move(impl)));
}

std::shared_ptr<const ChatTemplate> ChatTemplate::load(const std::filesystem::path& path,
                                                       const TemplateLimits& limits) {
  TemplateFiles files = read_template_files(path);
  if (files.subject.empty()) return nullptr;
  TemplateOptions options;
  options.name = files.subject;
  options.limits = limits;
  auto impl = std::make_unique<Impl>();
  if (files.plain) impl->plain.emplace(*files.plain, options);
  if (files.with_tools) impl->with_tools.emplace(*files.with_tools, options);
  impl->tokens = std::move(files.tokens);
  impl->missing = files.subject + " has no template named 'default'; there are: " +
                  (files.with_tools ? "tool_use " : "") + files.others;
  return std::shared_ptr<const ChatTemplate>(new ChatTemplate(std::move(impl)));
}

std::string ChatTemplate::render(std::span<const Message> messages,
                                 const RenderOptions& options) const {
  const Conversation conversation(messages, options, impl_->tokens);
  const Source& source = impl_->source(conversation.has_tools());
  if (options.continue_final_message && source.text().find("content") == std::string::npos) {
    throw Error(ErrorCode::kTemplate, "continue_final_message",
                "the template does not use the messages' content");
  }
  return conversation.finish(source.render(conversation.context(), options.now));
}

std::string ChatTemplate::render_raw(std::string_view context_json,
                                     std::optional<std::tm> now) const {
  const jinja::Value context = jinja::parse_json_value(context_json, "context");
  if (!context.is_dict()) {
    throw Error(ErrorCode::kInvalidArgument, "context", "expected a JSON object");
  }
  return impl_->source(false).render(context, now);
}

std::string_view ChatTemplate::source() const {
  return impl_->plain        ? impl_->plain->text()
         : impl_->with_tools ? impl_->with_tools->text()
                             : std::string_view();
}

}  // namespace quire
