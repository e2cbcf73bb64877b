// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "kernels/affine_codes.h"
#include "kernels/attention.h"
#include "kernels/attention_kernels.h"
#include "kernels/half.h"

namespace quire {
namespace {

int bits_of(KvEncoding encoding) {
  switch (encoding) {
    case KvEncoding::kF32:
      return 32;
    case KvEncoding::kBF16:
    case KvEncoding::kF16:
      return 16;
    case KvEncoding::kCodes8:
      return 8;
    case KvEncoding::kCodes4:
      return 4;
    case KvEncoding::kCodes2:
      break;
  }
  return 2;
}

bool is_coded(KvEncoding encoding) { return bits_of(encoding) < 16; }

// Tokens [first, last) of an append, into one page; `token` is the first one's place in it.
template <typename T, T (*kNarrow)(float)>
void append_to_page(const KvAppend& append, std::int64_t first, std::int64_t last, std::byte* page,
                    std::int64_t token) {
  const auto [heads, d, p] = append.shape;
  T* keys = reinterpret_cast<T*>(page);
  T* values = keys + heads * d * p;
  for (std::int64_t t = first; t < last; ++t, ++token) {
    const float* key = append.keys + t * append.key_stride;
    const float* value = append.values + t * append.value_stride;
    for (std::int64_t i = 0; i < heads * d; ++i) keys[i * p + token] = kNarrow(key[i]);
    for (std::int64_t h = 0; h < heads; ++h) {
      T* row = values + (h * p + token) * d;
      for (std::int64_t i = 0; i < d; ++i) row[i] = kNarrow(value[h * d + i]);
    }
  }
}

float keep(float x) { return x; }

float number_at(const KvPage& page, std::int64_t i) {
  std::uint16_t half = 0;
  float number = 0;
  switch (page.encoding) {
    case KvEncoding::kBF16:
      std::memcpy(&half, page.data + 2 * i, 2);
      return float_from_bf16(half);
    case KvEncoding::kF16:
      std::memcpy(&half, page.data + 2 * i, 2);
      return float_from_f16(half);
    default:
      std::memcpy(&number, page.data + 4 * i, 4);
      return number;
  }
}

// Puts the code of a column into its row; see CodeRows (attention_rows.h). Rows start as zeros.
void put_code(std::byte* row, std::int64_t column, std::uint8_t code, int bits) {
  const std::int64_t unit_bytes = kUnit * bits / 8;
  const std::int64_t within = column % kUnit;
  std::byte& byte = row[column / kUnit * unit_bytes + within % unit_bytes];
  byte |= static_cast<std::byte>(code << (within / unit_bytes * bits));
}

void put_half(std::byte* halves, std::int64_t i, std::uint16_t half) {
  std::memcpy(halves + 2 * i, &half, sizeof(half));
}

// Codes numbers that share a scale; what they are kept by goes to the i-th place of each.
class GroupEncoder {
 public:
  GroupEncoder(int bits, Ends ends) : bits_(bits), ends_(ends) {}

  void encode(std::span<const float> x, std::byte* scales, std::byte* zeros, std::int64_t i,
              std::byte* row, std::int64_t first_column) {
    const Affine affine = fit_affine(x, bits_, ends_);
    put_half(scales, i, affine.scale_bits);
    put_half(zeros, i, affine.zero_bits);
    codes_.resize(x.size());
    affine_codes(x, affine, bits_, codes_);
    for (const std::uint8_t code : codes_) put_code(row, first_column++, code, bits_);
  }

 private:
  int bits_;
  Ends ends_;
  std::vector<std::uint8_t> codes_;
};

// Values enter a result as they are, so their squared error is what counts. Keys do not: cutting
// the ends of their range makes it smaller too, and results worse (bench/kv_quality.cc).
void encode_keys(const KvShape& shape, const float* keys, std::byte* to, int bits) {
  const CodeLayout layout = code_layout(shape, bits);
  const std::int64_t p = shape.page_tokens;
  GroupEncoder encoder(bits, Ends::kKept);
  for (std::int64_t c = 0; c < shape.head_dim; ++c) {
    encoder.encode({keys + c * p, static_cast<std::size_t>(p)}, to + layout.key_scales,
                   to + layout.key_zeros, c, to + c * p * bits / 8, 0);
  }
}

void encode_values(const KvShape& shape, const float* values, std::byte* to, int bits) {
  const CodeLayout layout = code_layout(shape, bits);
  const std::int64_t d = shape.head_dim;
  const std::int64_t p = shape.page_tokens;
  GroupEncoder encoder(bits, Ends::kMayBeCut);
  for (std::int64_t t = 0; t < p; ++t) {
    std::byte* row = to + layout.values + t * padded(d) * bits / 8;
    for (std::int64_t g = 0; g * p < d; ++g) {
      const auto n = static_cast<std::size_t>(std::min(d - g * p, p));
      encoder.encode({values + t * d + g * p, n}, to + layout.value_scales, to + layout.value_zeros,
                     g * p + t, row, g * p);
    }
  }
}

}  // namespace

std::int64_t kv_page_bytes(const KvShape& shape, KvEncoding encoding) {
  const int bits = bits_of(encoding);
  if (is_coded(encoding)) return shape.kv_heads * code_layout(shape, bits).bytes;
  return 2 * shape.kv_heads * shape.head_dim * shape.page_tokens * bits / 8;
}

void append_to_pages(const KvAppend& append) {
  const std::int64_t p = append.shape.page_tokens;
  for (std::int64_t t = 0; t < append.tokens;) {
    const std::int64_t position = append.position + t;
    const std::int64_t token = position % p;
    const std::int64_t last = std::min(append.tokens, t + p - token);
    const KvPage& page = append.pages[position / p];
    switch (page.encoding) {
      case KvEncoding::kBF16:
        append_to_page<std::uint16_t, bf16_from_float>(append, t, last, page.data, token);
        break;
      case KvEncoding::kF16:
        append_to_page<std::uint16_t, f16_from_float>(append, t, last, page.data, token);
        break;
      default:
        append_to_page<float, keep>(append, t, last, page.data, token);
        break;
    }
    t = last;
  }
}

void encode_page(const KvShape& shape, const KvPage& from, const KvPage& to) {
  const int bits = bits_of(to.encoding);
  const std::int64_t numbers = shape.head_dim * shape.page_tokens;
  const std::int64_t head_bytes = code_layout(shape, bits).bytes;
  const auto wide = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(numbers));
  std::memset(to.data, 0, static_cast<std::size_t>(shape.kv_heads * head_bytes));
  for (std::int64_t h = 0; h < shape.kv_heads; ++h) {
    for (std::int64_t i = 0; i < numbers; ++i) wide[i] = number_at(from, h * numbers + i);
    encode_keys(shape, wide.get(), to.data + h * head_bytes, bits);
    const std::int64_t before = (shape.kv_heads + h) * numbers;
    for (std::int64_t i = 0; i < numbers; ++i) wide[i] = number_at(from, before + i);
    encode_values(shape, wide.get(), to.data + h * head_bytes, bits);
  }
}

}  // namespace quire
