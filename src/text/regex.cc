// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "text/regex.h"

#include <pcre2.h>
#include <quire/error.h>

#include <new>

#include "text/utf8.h"

namespace quire {

namespace {

// Backtracking steps from one starting point. Real patterns need fewer than a hundred; a pattern
// exponential in the text reaches this in under a second.
constexpr std::uint32_t kMatchLimit = 2'000'000;
constexpr std::uint32_t kHeapLimitKib = 16 * 1024;
constexpr std::size_t kJitStackStart = 32 * 1024;
constexpr std::size_t kJitStackMax = 8 * 1024 * 1024;

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};

using Code = std::unique_ptr<pcre2_code, Freed<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Freed<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack_free>>;

template <typename T>
T checked(T owned) {
  if (!owned) throw Error(ErrorCode::kOutOfMemory, "regular expression", "no memory to match");
  return owned;
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string message_of(int code) {
  PCRE2_UCHAR buffer[256];
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct Regex::State {
  Code code;
  std::string pattern;
  std::string subject;

  [[noreturn]] void fail(int code_) const {
    if (code_ == PCRE2_ERROR_NOMEMORY) throw Error(ErrorCode::kOutOfMemory, subject, "no memory");
    throw Error(
        ErrorCode::kInvalidArgument, subject,
        "pattern '" + pattern + "' cannot be matched against this text: " + message_of(code_));
  }
};

Regex::Regex(std::string_view pattern, std::string_view subject)
    : state_(std::make_unique<State>()) {
  state_->pattern = pattern;
  state_->subject = subject;
  const std::string translated = pcre_pattern(pattern, subject);
  const auto context = checked(CompileContext(pcre2_compile_context_create(nullptr)));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), 200);
  int code = 0;
  PCRE2_SIZE offset = 0;
  state_->code.reset(
      pcre2_compile(units(translated), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code,
                    &offset, context.get()));
  if (!state_->code) {
    throw Error(ErrorCode::kUnsupported, subject,
                "pattern '" + state_->pattern + "': " + message_of(code));
  }
  // Without JIT (an architecture that lacks it) the interpreter gives the same matches.
  pcre2_jit_compile(state_->code.get(), PCRE2_JIT_COMPLETE);
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

void Regex::for_each_match(std::string_view text,
                           const std::function<void(std::size_t, std::size_t)>& visit) const {
  const auto context = checked(MatchContext(pcre2_match_context_create(nullptr)));
  const auto stack =
      checked(JitStack(pcre2_jit_stack_create(kJitStackStart, kJitStackMax, nullptr)));
  const auto data = checked(MatchData(pcre2_match_data_create(1, nullptr)));
  pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  pcre2_set_match_limit(context.get(), kMatchLimit);
  pcre2_set_heap_limit(context.get(), kHeapLimitKib);

  std::size_t from = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    int found = pcre2_match(state_->code.get(), units(text), text.size(), from, PCRE2_NO_UTF_CHECK,
                            data.get(), context.get());
    if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
      found = pcre2_match(state_->code.get(), units(text), text.size(), from,
                          PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data.get(), context.get());
    }
    if (found == PCRE2_ERROR_NOMATCH) return;
    if (found < 0) state_->fail(found);
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data.get());
    const std::size_t begin = range[0];
    const std::size_t end = range[1];
    if (begin == end && end == last_end) {
      if (from >= text.size()) return;
      from += character_at(text, from).length;
      continue;
    }
    // \K can put the begin of a match behind its end, or before the last match.
    if (begin > end || begin < from) state_->fail(PCRE2_ERROR_INTERNAL);
    visit(begin, end);
    from = end;
    last_end = end;
  }
}

}  // namespace quire
