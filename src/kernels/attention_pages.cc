// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

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

std::uint16_t saturated_f16(float x) {
  constexpr float kMax = 65504.0F;
  return f16_from_float(std::clamp(x, -kMax, kMax));
}

// One scale and zero for some numbers: x = zero + scale * code. Both as f16 and as what that is.
struct Affine {
  std::uint16_t scale_bits;
  std::uint16_t zero_bits;
  float scale;
  float zero;
};

Affine rounded(float scale, float zero) {
  Affine affine{};
  affine.zero_bits = saturated_f16(zero);
  affine.zero = float_from_f16(affine.zero_bits);
  affine.scale_bits = saturated_f16(scale);
  affine.scale = float_from_f16(affine.scale_bits);
  return affine;
}

// The nearest code, as the low bits of a float that is 2^23 larger; 0 for NaN.
float shifted_code(float x, const Affine& affine, float levels) {
  const float exact = (x - affine.zero) / affine.scale;
  const float kept = exact >= 0 ? std::min(exact, levels) : 0.0F;
  return kept + 0x1p23F;
}

std::uint8_t code_of(float x, const Affine& affine, float levels) {
  return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(shifted_code(x, affine, levels)));
}

double squared_error(const float* x, std::int64_t n, const Affine& affine, float levels) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const float code = shifted_code(x[i], affine, levels) - 0x1p23F;
    const double error = double{affine.zero} + double{affine.scale} * double{code} - double{x[i]};
    sum += error * error;
  }
  return sum;
}

// The scale and zero that fit best to the codes that `affine` gives: linear regression.
Affine refitted(const float* x, std::int64_t n, const Affine& affine, float levels) {
  double codes = 0;
  double squares = 0;
  double sum = 0;
  double products = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double code{shifted_code(x[i], affine, levels) - 0x1p23F};
    codes += code;
    squares += code * code;
    sum += double{x[i]};
    products += code * double{x[i]};
  }
  const auto count = static_cast<double>(n);
  const double spread = count * squares - codes * codes;
  if (!(spread > 0)) return affine;
  const double scale = (count * products - codes * sum) / spread;
  return rounded(static_cast<float>(scale), static_cast<float>((sum - scale * codes) / count));
}

// From the range of the numbers, and for few levels, where the ends of the range matter less than
// what lies between, on from there as long as the error gets smaller. Codes are chosen after scale
// and zero have been rounded, so that they make up for it.
Affine fit(const float* x, std::int64_t n, int bits) {
  constexpr int kRefits = 3;
  const auto levels = static_cast<float>((1 << bits) - 1);
  const auto [low, high] = std::minmax_element(x, x + n);
  Affine best = rounded(0, *low);
  best = rounded(std::max(0.0F, *high - best.zero) / levels, *low);
  if (bits == 8) return best;
  double least = squared_error(x, n, best, levels);
  for (int i = 0; i < kRefits; ++i) {
    const Affine next = refitted(x, n, best, levels);
    const double error = squared_error(x, n, next, levels);
    if (!(error < least)) break;
    best = next;
    least = error;
  }
  return best;
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

void encode_keys(const KvShape& shape, const float* keys, std::byte* to, int bits) {
  const CodeLayout layout = code_layout(shape, bits);
  const auto levels = static_cast<float>((1 << bits) - 1);
  const std::int64_t p = shape.page_tokens;
  for (std::int64_t c = 0; c < shape.head_dim; ++c) {
    const Affine affine = fit(keys + c * p, p, bits);
    put_half(to + layout.key_scales, c, affine.scale_bits);
    put_half(to + layout.key_zeros, c, affine.zero_bits);
    for (std::int64_t t = 0; t < p; ++t) {
      put_code(to + c * p * bits / 8, t, code_of(keys[c * p + t], affine, levels), bits);
    }
  }
}

void encode_values(const KvShape& shape, const float* values, std::byte* to, int bits) {
  const CodeLayout layout = code_layout(shape, bits);
  const auto levels = static_cast<float>((1 << bits) - 1);
  const std::int64_t d = shape.head_dim;
  const std::int64_t p = shape.page_tokens;
  for (std::int64_t t = 0; t < p; ++t) {
    std::byte* row = to + layout.values + t * padded(d) * bits / 8;
    for (std::int64_t g = 0; g * p < d; ++g) {
      const std::int64_t last = std::min(d, (g + 1) * p);
      const Affine affine = fit(values + t * d + g * p, last - g * p, bits);
      put_half(to + layout.value_scales, g * p + t, affine.scale_bits);
      put_half(to + layout.value_zeros, g * p + t, affine.zero_bits);
      for (std::int64_t c = g * p; c < last; ++c) {
        put_code(row, c, code_of(values[t * d + c], affine, levels), bits);
      }
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
