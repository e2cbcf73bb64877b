// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/kv_cache.h>
#include <quire/quantized_cache.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kv/cache_parts.h"
#include "kv/layer_groups.h"
#include "kv/page.h"
#include "kv/page_attention.h"

namespace quire {

// One sequence's pages, most of them coded: what QuantizedCache is made of. Contracts as there.
//
// A copy is a fork: it shares the pages. During a pass a page that is coded is kept in full
// precision as well, for the tokens that still see it so and for rollback.
class CodedSequence {
 public:
  CodedSequence(const KvSpec& spec, const QuantizedCacheOptions& options);

  // As CacheParts has them; borrows the pages' memory.
  CodedSequence(const KvSpec& spec, const QuantizedCacheOptions& options, PartsReader& parts);
  CacheParts parts() const;  // without kind and options

  std::int64_t length() const { return length_; }
  const QuantizedCacheOptions& options() const { return common_->options; }
  std::int64_t bytes() const;
  std::int64_t shared_bytes() const;

  bool can_truncate(std::int64_t n) const;
  void truncate(std::int64_t n);
  CodedSequence fork() const;
  CodedSequence clone() const;

  void prepare(std::int64_t n);
  void attend(const Attention& attention);
  void commit();
  void rollback();

 private:
  // What all forks have in common.
  struct Common {
    KvSpec spec;
    QuantizedCacheOptions options;
    LayerGroups layers;
    KvEncoding full;
    KvEncoding coded;
    std::shared_ptr<PageAccount> account;
  };
  // Page i of a group: full, coded, both during a pass, or neither behind the window.
  struct Slot {
    PageRef full;
    PageRef coded;
  };
  struct Table {
    std::int64_t first = 0;  // slots before it are empty, and never coded
    std::vector<Slot> slots;
  };
  // What rollback puts back, for each table.
  struct Undo {
    std::size_t slots;  // how many there were
    bool replaced;      // the last one's page, by a copy
    PageRef last;       // that page; null where none was there
  };
  struct Pass {
    std::int64_t tokens;
    std::vector<Undo> undo;
  };

  std::int64_t page_tokens() const { return common_->options.q_group_size; }
  // At `length` tokens, pages [1, coded_end) are coded.
  std::int64_t coded_end(std::int64_t length) const;
  // The pages that a pass codes, up to coded_end, begin here: before it they are coded, or behind
  // the window, where pages may be gone before they were ever coded.
  std::int64_t first_to_code(const Table& table) const;
  void check_no_pass(const char* what) const;
  bool must_replace_last(const Table& table) const;
  void install(std::vector<PageRef> pages, std::int64_t end);
  void attend_page(const Attention& attention, std::int64_t page);
  void encode(std::int64_t layer, std::int64_t page);

  std::shared_ptr<const Common> common_;
  std::vector<Table> tables_;  // one for each group
  std::int64_t length_ = 0;
  std::optional<Pass> pass_;
};

}  // namespace quire
