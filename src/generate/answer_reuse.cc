// SPDX-License-Identifier: Apache-2.0
#include "generate/answer_reuse.h"

#include <quire/tokenizer.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "io/json.h"

namespace quire {
namespace {

void append(std::string& key, std::string_view field) {
  key += std::to_string(field.size()) + ":";
  key += field;
}

void append(std::string& key, double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), value);
  append(key, std::string_view(buffer, static_cast<std::size_t>(end - buffer)));
}

std::string sampling_key(const Request& request, const AnswerOptions& options) {
  const Sampling& s = options.sampling;
  std::string key;
  for (const double value :
       {s.temperature, static_cast<double>(s.top_k), s.top_p, s.min_p, s.repetition_penalty}) {
    append(key, value);
  }
  append(key, s.temperature > 0 ? std::to_string(s.seed) : "");
  append(key, std::to_string(options.max_new_tokens));
  append(key, request.ignore_eos ? "ignore_eos" : "");
  append(key, std::to_string(options.eos.size()));
  for (const TokenId id : options.eos) append(key, std::to_string(id));
  for (const std::string& stop : options.stop) append(key, stop);
  append(key, request.tools_json);
  return key;
}

std::string message_key(const Message& message) {
  std::string key;
  append(key, message.role);
  append(key, message.content);
  append(key, message.fields_json);
  return key;
}

bool is_text_part(const Json& part) {
  return part.is_object() && part.contains("text") && part["text"].is_string();
}

// A message's text: its content, or the text parts of a list.
std::string text_of(const Message& message) {
  if (!message.content.empty() || message.fields_json.empty()) return message.content;
  std::string text;
  const Json fields = Json::parse(message.fields_json, nullptr, false);
  if (!fields.is_object() || !fields.contains("content")) return text;
  const Json& content = fields["content"];
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (is_text_part(part)) text += part["text"].get<std::string>();
  }
  return text;
}

// What a message says beside its role and its text: its other members, and of a content of parts
// what is not text. Empty: nothing.
std::string beside_text(const Message& message) {
  Json fields = Json::parse(message.fields_json, nullptr, false);
  if (!fields.is_object()) return message.fields_json;
  for (const char* member : {"role", "cache_control"}) fields.erase(member);
  Json others = Json::array();
  if (const auto content = fields.find("content"); content != fields.end()) {
    if (content->is_array()) {
      std::ranges::copy_if(*content, std::back_inserter(others), std::not_fn(is_text_part));
    }
    fields.erase(content);
  }
  if (!others.empty()) fields["content"] = std::move(others);
  return fields.empty() ? "" : fields.dump();
}

bool is_system(const Message& message) {
  return message.role == "system" || message.role == "developer";
}

ReuseReport report_of(const SemanticResult& found) {
  ReuseReport report;
  report.miss = found.lookup.reason();
  report.waited = found.waited;
  if (found.lookup) {
    const SemanticHit& hit = *found.lookup;
    report.id = hit.id;
    report.score = hit.score;
    report.matched = hit.matched;
    report.age = hit.age;
  }
  for (const SemanticCandidate& candidate : found.lookup.passed_over) {
    ReuseReport::PassedOver passed{candidate.id, candidate.score, candidate.matched, {}, {}};
    if (candidate.refused) {
      passed.guard = to_string(candidate.refused->guard);
      passed.saw = candidate.refused->saw;
    }
    report.passed_over.push_back(std::move(passed));
  }
  return report;
}

// Lets a stored answer come as it came from the model: token by token, whole UTF-8, the text only.
class Replay {
 public:
  Replay(const StoredAnswer& answer, std::shared_ptr<const Tokenizer> tokenizer,
         const StreamCallback& stream)
      : answer_(answer), tokenizer_(std::move(tokenizer)), stream_(stream) {}

  Choice run() {
    if (tokenizer_) {
      StreamDecoder decoder(tokenizer_);
      for (const TokenId id : answer_.ids) {
        if (ended_) break;
        choice_.ids.push_back(id);
        emit(decoder.push(id).size());
      }
    } else {
      choice_.ids = answer_.ids;
    }
    if (!ended_) emit(answer_.response.size() - choice_.text.size());
    if (!ended_) {
      choice_.finish_reason = answer_.finish_reason;
      choice_.stop = answer_.stop;
    }
    return std::move(choice_);
  }

 private:
  // The next `size` bytes of the text, or what is left of it.
  void emit(std::size_t size) {
    const std::string text = answer_.response.substr(choice_.text.size(), size);
    if (text.empty()) return;
    choice_.text += text;
    if (!stream_) return;
    const Stream wish = stream_(text);
    if (wish == Stream::kContinue) return;
    ended_ = true;
    choice_.finish_reason = wish == Stream::kStop ? FinishReason::kStop : FinishReason::kCancelled;
  }

  const StoredAnswer& answer_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  const StreamCallback& stream_;
  Choice choice_;
  bool ended_ = false;
};

// The answer as the cache may keep it; empty when it was ended from outside.
StoredAnswer stored(const Result& result) {
  const bool stopped = result.finish_reason == FinishReason::kStop && result.stop.empty();
  if (stopped) return {};
  return {.response = result.text,
          .ids = result.ids,
          .finish_reason = result.finish_reason,
          .stop = result.stop};
}

// A stored answer, or none in time, as the result of a request that computed nothing.
Result replayed(const StoredAnswer& answer, const Model& model, const TokenIds& prompt,
                const StreamCallback& stream) {
  Result result;
  static_cast<Choice&>(result) = Replay(answer, model.tokenizer(), stream).run();
  result.usage.prompt_tokens = std::ssize(prompt);
  result.usage.completion_tokens = std::ssize(result.ids);
  result.usage.total_tokens = result.usage.prompt_tokens + result.usage.completion_tokens;
  const bool served = answer.finish_reason != FinishReason::kDeadline;
  result.usage.cached_tokens = served ? result.usage.prompt_tokens : 0;
  result.usage.uncached_tokens = result.usage.prompt_tokens;
  return result;
}

}  // namespace

bool may_reuse_answer(const Request& request, const AnswerOptions& options) {
  return request.reuse && request.cache == nullptr && !request.snapshot && request.n == 1 &&
         request.logprobs == 0 && (options.sampling.temperature == 0 || request.reuse->sampled);
}

SemanticQuery query_of(const Model& model, const Request& request, const AnswerOptions& options,
                       const TokenIds& prompt) {
  SemanticQuery query;
  query.ids = prompt;
  append(query.scope.name_space, request.scope.name_space);
  append(query.scope.name_space, request.scope.salt);
  query.scope.model = model.fingerprint() + request.scope.adapter;
  query.scope.sampling = sampling_key(request, options);
  query.scope.vary = request.reuse->vary;
  if (request.prompt) {
    query.prompt = *request.prompt;
  } else if (!request.ids) {
    for (std::size_t i = 0; i + 1 < request.messages.size(); ++i) {
      const Message& message = request.messages[i];
      if (!is_system(message)) {
        query.scope.history += message_key(message);
        continue;
      }
      query.scope.system_prompt += message_key(message);
      if (!query.scope.history.empty()) append(query.scope.history, message.role);  // its place
    }
    const Message& last = request.messages.back();
    append(query.scope.history, last.role);
    if (const std::string more = beside_text(last); !more.empty()) {
      append(query.scope.history, more);
    }
    query.prompt = text_of(last);
  }
  return query;
}

namespace {

using Compute = std::function<Result(const Request& own)>;

Result reuse_similar(SemanticCache& cache, const SemanticQuery& query, const Model& model,
                     const Request& request, const TokenIds& prompt, const StreamCallback& stream,
                     const Compute& run) {
  std::optional<Result> made;
  const auto compute = [&](const SemanticLookup& missed) {
    Request own = request;
    own.reuse.reset();
    if (missed.draft && own.draft.empty() && own.draft_ids.empty())
      own.draft_ids = missed.draft->ids;
    made = run(own);
    return stored(*made);
  };
  const SemanticResult found = cache.get_or_compute(
      query, compute, request.deadline, {.ttl = request.reuse->ttl, .tags = request.reuse->tags});
  Result result = made ? *std::move(made) : replayed(found, model, prompt, stream);
  result.cache.source = found.source;
  result.cache.reuse = report_of(found);
  return result;
}

Result reuse_equal(AnswerCache& cache, const SemanticQuery& query, const Model& model,
                   const Request& request, const TokenIds& prompt, const StreamCallback& stream,
                   const std::function<Result()>& run) {
  std::optional<Result> made;
  const auto compute = [&] {
    made = run();
    return made->cache.source == AnswerSource::kModel ? stored(*made) : StoredAnswer{};
  };
  const CachedAnswer found =
      cache.get_or_compute(query, compute, request.deadline, request.reuse->ttl);
  Result result = made ? *std::move(made) : replayed(found, model, prompt, stream);
  ReuseReport& report = result.cache.reuse ? *result.cache.reuse : result.cache.reuse.emplace();
  const bool hit = !made && found.finish_reason != FinishReason::kDeadline;
  if (hit) {
    result.cache.source = AnswerSource::kExact;
    report.score = 1;
    report.matched = query.prompt;
    report.age = found.age;
  } else if (report.miss == "none" && result.cache.source == AnswerSource::kModel) {
    report.miss = "nothing_stored";
  }
  report.waited = report.waited || found.waited;
  return result;
}

}  // namespace

Result reuse_answer(const AnswerCaches& caches, const Model& model, const Request& request,
                    const AnswerOptions& options, const TokenIds& prompt,
                    const StreamCallback& stream, const Compute& run) {
  const SemanticQuery query = query_of(model, request, options, prompt);
  const auto by_meaning = [&] {
    if (caches.similar != nullptr) {
      return reuse_similar(*caches.similar, query, model, request, prompt, stream, run);
    }
    Request own = request;
    own.reuse.reset();
    return run(own);
  };
  if (caches.equal == nullptr || !request.reuse->tags.empty()) return by_meaning();
  return reuse_equal(*caches.equal, query, model, request, prompt, stream, by_meaning);
}

}  // namespace quire
