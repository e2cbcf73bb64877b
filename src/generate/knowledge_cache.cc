// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/knowledge_cache.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "io/read_file.h"

namespace quire {
namespace {

std::string join(const KnowledgeOptions& options) {
  std::vector<std::string> documents;
  for (const std::filesystem::path& file : options.files) documents.push_back(read_file(file));
  documents.insert(documents.end(), options.texts.begin(), options.texts.end());
  if (documents.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "KnowledgeOptions", "expected a document, found none");
  }
  std::string text = options.instructions;
  for (const std::string& document : documents) {
    if (!text.empty()) text += options.separator;
    text += document;
  }
  return text;
}

}  // namespace

struct KnowledgeCache::Impl {
  Generator* generator;
  KnowledgeOptions options;
  std::string documents;
  bool chat = false;
  bool loaded = false;
  Snapshot snapshot;

  Request request(const std::string& question, const Request& settings) const;
  Request reading() const;
  Snapshot load(const TokenIds& ids) const;
};

Request KnowledgeCache::Impl::request(const std::string& question, const Request& settings) const {
  if (settings.prompt || settings.ids || !settings.messages.empty() || settings.cache ||
      settings.snapshot) {
    throw Error(ErrorCode::kInvalidArgument, "settings",
                "expected no prompt, ids, messages, cache or snapshot");
  }
  Request request = settings;
  request.scope = options.scope;
  if (chat) {
    request.messages = {{"system", documents}, {"user", question}};
  } else {
    request.prompt = documents + options.before_question + question + options.after_question;
  }
  return request;
}

// All that questions have in common: what two that differ from the first character on share.
Request KnowledgeCache::Impl::reading() const {
  Request request;
  request.scope = options.scope;
  if (!chat) {
    request.prompt = documents;
    return request;
  }
  const TokenIds one = generator->tokenize(this->request("A", {}));
  const TokenIds other = generator->tokenize(this->request("7", {}));
  request.ids = TokenIds(one.begin(), std::ranges::mismatch(one, other).in1);
  return request;
}

// None if there is no file, or one of other documents or of another model. Texts that a tokenizer
// takes for one another are still others: questions continue the text.
Snapshot KnowledgeCache::Impl::load(const TokenIds& ids) const {
  std::error_code ignored;
  if (options.snapshot.empty() || !std::filesystem::exists(options.snapshot, ignored)) return {};
  try {
    Snapshot found =
        Snapshot::load(options.snapshot, *generator->model(), {.scope = options.scope});
    const bool same = std::ranges::equal(found.ids(), ids) && (chat || found.text() == documents);
    return same ? found : Snapshot();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    return {};
  }
}

KnowledgeCache::KnowledgeCache(Generator& generator, const KnowledgeOptions& options,
                               std::unique_ptr<KvCache> cache)
    : impl_(std::make_unique<Impl>()) {
  impl_->generator = &generator;
  impl_->options = options;
  impl_->documents = join(options);
  impl_->chat = options.chat && generator.model()->chat_template() != nullptr;
  const Request reading = impl_->reading();
  impl_->snapshot = impl_->load(generator.tokenize(reading));
  impl_->loaded = static_cast<bool>(impl_->snapshot);
  if (impl_->loaded) return;
  impl_->snapshot = generator.prefill(reading, std::move(cache));
  if (!options.snapshot.empty()) impl_->snapshot.save(options.snapshot);
}

KnowledgeCache::~KnowledgeCache() = default;
KnowledgeCache::KnowledgeCache(KnowledgeCache&&) noexcept = default;
KnowledgeCache& KnowledgeCache::operator=(KnowledgeCache&&) noexcept = default;

Request KnowledgeCache::request(const std::string& question, const Request& settings) const {
  return impl_->request(question, settings);
}

Result KnowledgeCache::ask(const std::string& question, const Request& settings,
                           const StreamCallback& stream) const {
  Request request = impl_->request(question, settings);
  request.snapshot = impl_->snapshot;
  // A text continues the snapshot's.
  if (request.prompt) request.prompt->erase(0, impl_->snapshot.text()->size());
  return impl_->generator->generate(request, stream);
}

std::int64_t KnowledgeCache::length() const { return std::ssize(impl_->snapshot.ids()); }
std::int64_t KnowledgeCache::bytes() const { return impl_->snapshot.bytes(); }
bool KnowledgeCache::loaded() const { return impl_->loaded; }
const Snapshot& KnowledgeCache::snapshot() const { return impl_->snapshot; }

}  // namespace quire
