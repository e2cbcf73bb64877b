// SPDX-License-Identifier: Apache-2.0
#include "kv/coded_sequence.h"

#include <c10/core/InferenceMode.h>
#include <quire/error.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "io/make_room.h"

namespace quire {
namespace {

[[noreturn]] void refuse(const std::string& subject, const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, subject, problem);
}

const QuantizedCacheOptions& checked(const QuantizedCacheOptions& options) {
  if (options.nbits != 8 && options.nbits != 4 && options.nbits != 2) {
    refuse("QuantizedCacheOptions::nbits",
           "expected 8, 4 or 2, found " + std::to_string(options.nbits));
  }
  const std::int64_t group = options.q_group_size;
  if (group != 32 && group != 64) {
    refuse("QuantizedCacheOptions::q_group_size",
           "expected 32 or 64, found " + std::to_string(group));
  }
  if (options.residual_length < group || options.residual_length % group != 0) {
    refuse("QuantizedCacheOptions::residual_length", "expected a multiple of q_group_size " +
                                                         std::to_string(group) + ", found " +
                                                         std::to_string(options.residual_length));
  }
  if (options.max_bytes < 0) {
    refuse("QuantizedCacheOptions::max_bytes",
           "expected 0 or more, found " + std::to_string(options.max_bytes));
  }
  return options;
}

Device checked(Device device) {
  if (device != Device::kCpu) {
    throw Error(ErrorCode::kUnsupported, "QuantizedCache", "expected device cpu, found cuda");
  }
  return device;
}

KvEncoding encoding_of_bits(int bits) {
  return bits == 8 ? KvEncoding::kCodes8 : bits == 4 ? KvEncoding::kCodes4 : KvEncoding::kCodes2;
}

KvPage part_of(const PageRef& page, std::int64_t offset, KvEncoding encoding) {
  return {static_cast<std::byte*>(page->storage().data_ptr()) + offset, encoding};
}

}  // namespace

CodedSequence::CodedSequence(const KvSpec& spec, const QuantizedCacheOptions& options)
    : common_(std::make_shared<const Common>(
          Common{spec, checked(options), group_layers(spec, "QuantizedCache"),
                 encoding_of(spec.dtype), encoding_of_bits(options.nbits),
                 std::make_shared<PageAccount>(checked(spec.device), options.max_bytes)})) {
  tables_.resize(common_->layers.groups.size());
}

CodedSequence::CodedSequence(const KvSpec& spec, const QuantizedCacheOptions& options,
                             PartsReader& parts)
    : CodedSequence(spec, options) {
  length_ = parts.parts().length;
  const std::int64_t p = page_tokens();
  const std::int64_t pages = pages_for(length_, p);
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    const LayerGroup& group = common_->layers.groups[g];
    Table& table = tables_[g];
    const std::int64_t first =
        parts.first(g, first_seen_page(length_, group.shape.window, p), pages);
    table.first = std::min(first, length_ / p);
    table.slots.resize(static_cast<std::size_t>(first));
    for (std::int64_t i = first; i < pages; ++i) {
      const bool coded = 1 <= i && i < coded_end(length_);
      const at::Tensor& bytes =
          parts.next(page_bytes(group, p, coded ? common_->coded : common_->full));
      PageRef page(std::make_shared<Page>(bytes));
      table.slots.push_back(coded ? Slot{{}, std::move(page)} : Slot{std::move(page), {}});
    }
  }
}

CacheParts CodedSequence::parts() const {
  check_no_pass("save");
  CacheParts parts;
  parts.length = length_;
  const std::int64_t p = page_tokens();
  for (const Table& table : tables_) {
    std::int64_t first = table.first;
    for (std::int64_t i = first; i < std::ssize(table.slots); ++i) {
      const Slot& slot = table.slots[static_cast<std::size_t>(i)];
      const PageRef& page = slot.coded ? slot.coded : slot.full;
      // One behind the window may be missing, where tokens were dropped.
      page ? parts.pages.push_back({page->storage(), i * p}) : void(first = i + 1);
    }
    parts.first.push_back(first);
  }
  return parts;
}

std::int64_t CodedSequence::coded_end(std::int64_t length) const {
  const std::int64_t residual = common_->options.residual_length / page_tokens();
  return std::max<std::int64_t>(1, length / page_tokens() - residual + 1);
}

std::int64_t CodedSequence::first_to_code(const Table& table) const {
  return std::max(coded_end(length_), table.first);
}

void CodedSequence::check_no_pass(const char* what) const {
  if (!pass_) return;
  refuse(std::string("QuantizedCache::") + what,
         "expected a cache between passes, found one between prepare and commit");
}

std::int64_t CodedSequence::bytes() const {
  std::int64_t total = 0;
  for (const Table& table : tables_) {
    for (const Slot& slot : table.slots) {
      total += (slot.full ? slot.full->bytes() : 0) + (slot.coded ? slot.coded->bytes() : 0);
    }
  }
  return total;
}

std::int64_t CodedSequence::shared_bytes() const {
  std::int64_t total = 0;
  const auto add = [&total](const PageRef& page) {
    if (page && !page.unique()) total += page->bytes();
  };
  for (const Table& table : tables_) {
    for (const Slot& slot : table.slots) {
      add(slot.full);
      add(slot.coded);
    }
  }
  return total;
}

bool CodedSequence::can_truncate(std::int64_t n) const {
  if (n < 0 || n > length_) return false;
  const std::int64_t p = page_tokens();
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    const Table& table = tables_[g];
    const std::int64_t seen = first_seen(n, common_->layers.groups[g].shape.window);
    if (seen < n && seen < table.first * p) return false;
    const std::int64_t from = std::max(coded_end(n), table.first);
    for (std::int64_t i = from; i < pages_for(n, p); ++i) {
      const Slot& slot = table.slots[static_cast<std::size_t>(i)];
      if (slot.coded && !slot.full) return false;
    }
  }
  return true;
}

void CodedSequence::truncate(std::int64_t n) {
  check_no_pass("truncate");
  if (!can_truncate(n)) {
    refuse(
        "QuantizedCache::truncate",
        "expected a length whose pages are still in full precision where they have to be, found " +
            std::to_string(n) + " of " + std::to_string(length_));
  }
  for (Table& table : tables_) {
    table.slots.resize(static_cast<std::size_t>(pages_for(n, page_tokens())));
    table.first = std::min(table.first, n / page_tokens());
  }
  length_ = n;
}

CodedSequence CodedSequence::fork() const {
  check_no_pass("fork");
  return *this;
}

CodedSequence CodedSequence::clone() const {
  CodedSequence copy = fork();
  std::vector<PageRef*> refs;
  std::vector<std::int64_t> sizes;
  for (Table& table : copy.tables_) {
    for (Slot& slot : table.slots) {
      for (PageRef* ref : {&slot.full, &slot.coded}) {
        if (!*ref) continue;
        refs.push_back(ref);
        sizes.push_back((*ref)->bytes());
      }
    }
  }
  const std::vector<PageRef> pages = common_->account->allocate(sizes);
  for (std::size_t i = 0; i < refs.size(); ++i) {
    copy_page(*refs[i], pages[i]);
    *refs[i] = pages[i];
  }
  return copy;
}

bool CodedSequence::must_replace_last(const Table& table) const {
  if (length_ % page_tokens() == 0) return false;
  const PageRef& last = table.slots.back().full;
  return !last || !last.unique();
}

void CodedSequence::prepare(std::int64_t n) {
  check_no_pass("prepare");
  if (n < 0) {
    refuse("QuantizedCache::prepare",
           "expected no fewer than 0 tokens, found " + std::to_string(n));
  }
  const std::int64_t end = length_ + n;
  const std::int64_t p = page_tokens();
  std::vector<std::int64_t> sizes;
  Pass pass{n, {}};
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    const Table& table = tables_[g];
    const LayerGroup& group = common_->layers.groups[g];
    const bool replace = n > 0 && must_replace_last(table);
    pass.undo.push_back({table.slots.size(), replace, {}});
    const std::int64_t full = pages_for(end, p) - std::ssize(table.slots) + (replace ? 1 : 0);
    const std::int64_t coded = std::max<std::int64_t>(0, coded_end(end) - first_to_code(table));
    sizes.insert(sizes.end(), static_cast<std::size_t>(full), page_bytes(group, p, common_->full));
    sizes.insert(sizes.end(), static_cast<std::size_t>(coded),
                 page_bytes(group, p, common_->coded));
  }
  std::vector<PageRef> pages = common_->account->allocate(sizes);
  for (Table& table : tables_) {
    make_room(table.slots, static_cast<std::size_t>(pages_for(end, p)));
  }
  // From here on nothing fails.
  pass_ = std::move(pass);
  install(std::move(pages), end);
}

// Takes the pages in the order in which prepare asked for them.
void CodedSequence::install(std::vector<PageRef> pages, std::int64_t end) {
  auto next = pages.begin();
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    Table& table = tables_[g];
    Undo& undo = pass_->undo[g];
    if (undo.replaced) {
      PageRef& last = table.slots.back().full;
      if (last) copy_page(last, *next);
      undo.last = std::exchange(last, std::move(*next++));
    }
    while (std::ssize(table.slots) < pages_for(end, page_tokens())) {
      table.slots.push_back({std::move(*next++), {}});
    }
    for (std::int64_t i = first_to_code(table); i < coded_end(end); ++i) {
      table.slots[static_cast<std::size_t>(i)].coded = std::move(*next++);
    }
  }
}

void CodedSequence::attend(const Attention& attention) {
  const std::int64_t layers = std::ssize(common_->layers.places);
  if (!pass_ || attention.layer < 0 || attention.layer >= layers) {
    refuse("QuantizedCache::attend", "expected prepare before, and one of " +
                                         std::to_string(layers) + " layers, found layer " +
                                         std::to_string(attention.layer));
  }
  const c10::InferenceMode guard;
  check_attention(attention, common_->spec.layers[static_cast<std::size_t>(attention.layer)],
                  pass_->tokens);
  const std::int64_t p = page_tokens();
  const std::int64_t end = length_ + pass_->tokens;
  const std::int64_t residual = common_->options.residual_length / p;
  const std::size_t group = common_->layers.places[static_cast<std::size_t>(attention.layer)].group;
  const std::int64_t first_due = first_to_code(tables_[group]);
  for (std::int64_t page = length_ / p; page < pages_for(end, p); ++page) {
    attend_page(attention, page);
    // The page is full: the one that is now `residual` pages back is seen as codes from here on.
    const std::int64_t due = page + 1 - residual;
    if ((page + 1) * p <= end && due >= first_due) encode(attention.layer, due);
  }
}

// The pass's tokens that lie in `page`: all of them see the same pages as codes.
void CodedSequence::attend_page(const Attention& attention, std::int64_t page) {
  const std::int64_t p = page_tokens();
  const std::int64_t first = std::max(length_, page * p);
  const std::int64_t count = std::min(length_ + pass_->tokens, (page + 1) * p) - first;
  const auto [g, index] = common_->layers.places[static_cast<std::size_t>(attention.layer)];
  const LayerGroup& group = common_->layers.groups[g];
  LayerPages pages{page_shape(group, p), group.shape.window, first, {}};
  const std::int64_t full = index * kv_page_bytes(pages.shape, common_->full);
  const std::int64_t coded = index * kv_page_bytes(pages.shape, common_->coded);
  const std::int64_t codes_end = coded_end(page * p);
  for (std::int64_t i = 0; i <= page; ++i) {
    const Slot& slot = tables_[g].slots[static_cast<std::size_t>(i)];
    const bool codes = 1 <= i && i < codes_end;
    const PageRef& ref = codes ? slot.coded : slot.full;
    pages.slices.push_back({ref ? &ref->storage() : nullptr, codes ? coded : full,
                            codes ? common_->coded : common_->full});
  }
  const std::int64_t start = first - length_;
  const at::Tensor q = attention.q.narrow(0, start, count);
  const at::Tensor k = attention.k.narrow(0, start, count);
  const at::Tensor v = attention.v.narrow(0, start, count);
  at::Tensor out = attention.out.narrow(0, start, count);
  attend_by_kernels(pages, {.layer = attention.layer,
                            .q = q,
                            .k = k,
                            .v = v,
                            .out = out,
                            .scale = attention.scale,
                            .softcap = attention.softcap,
                            .threads = attention.threads});
}

void CodedSequence::encode(std::int64_t layer, std::int64_t page) {
  const auto [g, index] = common_->layers.places[static_cast<std::size_t>(layer)];
  const KvShape shape = page_shape(common_->layers.groups[g], page_tokens());
  const Slot& slot = tables_[g].slots[static_cast<std::size_t>(page)];
  encode_page(shape, part_of(slot.full, index * kv_page_bytes(shape, common_->full), common_->full),
              part_of(slot.coded, index * kv_page_bytes(shape, common_->coded), common_->coded));
}

void CodedSequence::commit() {
  if (!pass_) return;
  const std::int64_t end = length_ + pass_->tokens;
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    Table& table = tables_[g];
    for (std::int64_t i = first_to_code(table); i < coded_end(end); ++i) {
      table.slots[static_cast<std::size_t>(i)].full = {};
    }
    const std::int64_t first =
        first_kept_page(end, common_->layers.groups[g].shape.window, page_tokens());
    for (; table.first < first; ++table.first) {
      table.slots[static_cast<std::size_t>(table.first)] = {};
    }
  }
  length_ = end;
  pass_.reset();
}

void CodedSequence::rollback() {
  if (!pass_) return;
  const std::int64_t end = length_ + pass_->tokens;
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    Table& table = tables_[g];
    for (std::int64_t i = first_to_code(table); i < coded_end(end); ++i) {
      table.slots[static_cast<std::size_t>(i)].coded = {};
    }
    table.slots.resize(pass_->undo[g].slots);
    if (pass_->undo[g].last) table.slots.back().full = std::move(pass_->undo[g].last);
  }
  pass_.reset();
}

}  // namespace quire
