// SPDX-License-Identifier: Apache-2.0
// Attention over pages: every instruction set against the portable one, which tests/kv holds
// against a reference. Results may differ by the rounding of sums in another order.
#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "tests/kernels/isas.h"
#include "tests/kernels/random_floats.h"

namespace quire {
namespace {

using std::int64_t;

constexpr int64_t kTokens = 300;  // more than a chunk
constexpr int64_t kQueries = 60;  // the last
constexpr int64_t kHeads = 4;

struct Case {
  KvShape shape;
  KvEncoding encoding;
  int64_t window;
  float softcap;
};

bool is_coded(KvEncoding encoding) { return encoding >= KvEncoding::kCodes8; }

// The last page of a coded table is not full, and as its numbers came.
std::vector<float> attention(const Case& c) {
  const KvShape& shape = c.shape;
  const KvEncoding written = is_coded(c.encoding) ? KvEncoding::kF32 : c.encoding;
  const auto count =
      static_cast<std::size_t>((kTokens + shape.page_tokens - 1) / shape.page_tokens);
  std::vector<std::vector<std::byte>> memory;
  std::vector<KvPage> pages;
  const auto add_page = [&](KvEncoding encoding) {
    memory.emplace_back(static_cast<std::size_t>(kv_page_bytes(shape, encoding) + 64));
    void* start = memory.back().data();
    std::size_t space = memory.back().size();
    std::align(64, space - 64, start, space);
    return KvPage{static_cast<std::byte*>(start), encoding};
  };
  memory.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) pages.push_back(add_page(written));
  const int64_t row = shape.kv_heads * shape.head_dim;
  const std::vector<float> keys = random_floats(kTokens * row, 1);
  const std::vector<float> values = random_floats(kTokens * row, 2);
  append_to_pages({shape, pages.data(), 0, kTokens, keys.data(), row, values.data(), row});
  for (std::size_t i = 0; is_coded(c.encoding) && i + 1 < count; ++i) {
    const KvPage coded = add_page(c.encoding);
    encode_page(shape, pages[i], coded);
    pages[i] = coded;
  }
  const int64_t out_row = kHeads * shape.head_dim;
  const std::vector<float> q = random_floats(kQueries * out_row, 3);
  std::vector<float> out(q.size(), -7);
  attend_to_pages({shape, pages.data(), kHeads, kTokens - kQueries, kQueries, c.window, 0.3F,
                   c.softcap, q.data(), out_row, out.data(), out_row},
                  nullptr);
  return out;
}

class AttentionTest : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, AttentionTest, testing::ValuesIn(machine_isas()), isa_test_name);

TEST_P(AttentionTest, EqualsThePortableKernels) {
  for (const int64_t head_dim : {5, 16, 40, 64, 128}) {
    for (const KvEncoding encoding :
         {KvEncoding::kF32, KvEncoding::kBF16, KvEncoding::kF16, KvEncoding::kCodes8,
          KvEncoding::kCodes4, KvEncoding::kCodes2}) {
      const bool odd = head_dim % 16 != 0;
      const Case c{{odd ? 1 : 2, head_dim, odd ? 64 : 32}, encoding, odd ? 0 : 70, odd ? 0 : 5.0F};
      const std::vector<float> got = attention(c);
      set_isa_limit(Isa::kPortable);
      const std::vector<float> expected = attention(c);
      set_isa_limit(GetParam());
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[i], 2e-5)
            << "head_dim " << head_dim << " encoding " << static_cast<int>(encoding) << " at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace quire
