// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantised_matrix.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <vector>

#include "kernels/half.h"

namespace quire {
namespace {

using std::int64_t;

static_assert(std::endian::native == std::endian::little, "four codes make a word, first lowest");

constexpr int kVectors = 8;  // of codes in a unit
constexpr int64_t kVectorBytes = 64;

// The code words of one output in one unit: word j is inputs 4j to 4j + 3.
struct Words {
  std::uint32_t at[kVectors];
};

// Where the words of an output of a panel lie in a plane.
void store_word(std::byte* plane, int vector, int64_t output, std::uint32_t word) {
  std::memcpy(plane + vector * kVectorBytes + output * 4, &word, sizeof word);
}

std::uint32_t load_word(const std::byte* plane, int vector, int64_t output) {
  std::uint32_t word;
  std::memcpy(&word, plane + vector * kVectorBytes + output * 4, sizeof word);
  return word;
}

// A plane of `width` bits a code, bits `low` and up of codes, in kVectors * width / 8 vectors.
struct Plane {
  int width;
  int low;
  int vectors() const { return kVectors * width / 8; }
  std::uint32_t mask() const { return 0x01010101U * ((1U << width) - 1); }
};

// Calls work(plane, place) for each plane of codes of `bits` bits.
template <typename Work>
void over_planes(int bits, const Work& work) {
  int64_t place = 0;
  int low = 0;
  const auto plane = [&](int width) {
    work(Plane{width, low}, place);
    place += kPanelOutputs * kUnit / 8 * width;
    low += width;
  };
  if (bits == 8) return plane(8);
  if (bits >= 4) plane(4);
  if (bits % 4 >= 2) plane(2);
  if (bits % 2 == 1) plane(1);
}

void pack_codes(int bits, const Words& words, int64_t output, std::byte* codes) {
  over_planes(bits, [&](const Plane& plane, int64_t place) {
    for (int i = 0; i < plane.vectors(); ++i) {
      std::uint32_t packed = 0;
      for (int j = i, shift = 0; j < kVectors; j += plane.vectors(), shift += plane.width) {
        packed |= (words.at[j] >> plane.low & plane.mask()) << shift;
      }
      store_word(codes + place, i, output, packed);
    }
  });
}

Words unpack_codes(int bits, const std::byte* codes, int64_t output) {
  Words words{};
  over_planes(bits, [&](const Plane& plane, int64_t place) {
    for (int i = 0; i < plane.vectors(); ++i) {
      const std::uint32_t packed = load_word(codes + place, i, output);
      for (int j = i, shift = 0; j < kVectors; j += plane.vectors(), shift += plane.width) {
        words.at[j] |= (packed >> shift & plane.mask()) << plane.low;
      }
    }
  });
  return words;
}

// A row taken apart, and room for it.
class RowBuffer {
 public:
  RowBuffer(int64_t cols, const QuantisedFormat& format)
      : codes_(static_cast<std::size_t>(cols)),
        halves_(static_cast<std::size_t>(2 * cols / format.block_inputs())),
        scales_(static_cast<std::size_t>(cols / kUnit * format.groups)),
        mins_(scales_.size()) {}

  QuantisedRow row() {
    return {codes_.data(), halves_.data(), halves_.data() + halves_.size() / 2, scales_.data(),
            mins_.data()};
  }

 private:
  std::vector<std::uint8_t> codes_;
  std::vector<std::uint16_t> halves_;
  std::vector<std::int8_t> scales_;
  std::vector<std::uint8_t> mins_;
};

void pack_row(const QuantisedFormat& format, const QuantisedRow& row, int64_t blocks,
              int64_t output, std::byte* panel) {
  const auto put = [output](std::byte* array, int64_t index, auto value) {
    std::memcpy(array + (index * kPanelOutputs + output) * static_cast<int64_t>(sizeof value),
                &value, sizeof value);
  };
  for (int64_t b = 0; b < blocks; ++b, panel += format.block_bytes()) {
    put(panel, 0, row.d[b]);
    if (format.has_min) put(panel, 1, row.m[b]);
    std::byte* unit = panel + format.head_bytes();
    for (int64_t u = b * format.units; u < (b + 1) * format.units; ++u) {
      Words words;
      std::memcpy(words.at, row.codes + u * kUnit, sizeof words.at);
      pack_codes(format.bits, words, output, unit);
      std::byte* scales = unit + format.code_bytes();
      for (int g = 0; format.grouped() && g < format.groups; ++g) {
        put(scales, g, row.scales[u * format.groups + g]);
        if (format.has_min) put(scales, format.groups + g, row.mins[u * format.groups + g]);
      }
      unit += format.unit_bytes();
    }
  }
}

}  // namespace

int64_t QuantisedMatrix::panel_bytes() const noexcept {
  const QuantisedFormat format = quantised_format(type_);
  return cols_ / format.block_inputs() * format.block_bytes();
}

QuantisedMatrix::QuantisedMatrix(int64_t rows, int64_t cols, BlockType type,
                                 const QuantisedSource& source, ThreadPool* pool,
                                 WeightArena* arena)
    : rows_(rows), cols_(cols), type_(type) {
  if (bytes() == 0) return;
  const auto size = static_cast<std::size_t>(bytes());
  data_ = arena == nullptr ? allocate_aligned(size) : arena->take(size);
  const QuantisedFormat format = quantised_format(type);
  std::atomic<int64_t> next{0};
  run_on(pool, [&](int, int) {
    RowBuffer buffer(cols_, format);
    for (int64_t p = next++; p < panels(); p = next++) {
      std::byte* panel = data_.get() + p * panel_bytes();
      const int64_t count = std::min<int64_t>(kPanelOutputs, rows_ - p * kPanelOutputs);
      if (count < kPanelOutputs) std::memset(panel, 0, static_cast<std::size_t>(panel_bytes()));
      for (int64_t output = 0; output < count; ++output) {
        source(p * kPanelOutputs + output, buffer.row());
        pack_row(format, buffer.row(), cols_ / format.block_inputs(), output, panel);
      }
    }
  });
}

void QuantisedMatrix::row(int64_t n, float* out) const {
  const QuantisedFormat format = quantised_format(type_);
  const int64_t output = n % kPanelOutputs;
  const std::byte* block = data_.get() + n / kPanelOutputs * panel_bytes();
  const auto half = [output](const std::byte* head, int index) {
    std::uint16_t bits;
    std::memcpy(&bits, head + (index * kPanelOutputs + output) * 2, sizeof bits);
    return float_from_f16(bits);
  };
  const auto byte = [output](const std::byte* array, int index) {
    return static_cast<std::uint8_t>(array[index * kPanelOutputs + output]);
  };
  for (int64_t b = 0; b < cols_ / format.block_inputs(); ++b, block += format.block_bytes()) {
    const float d = half(block, 0);
    const float m = format.has_min ? half(block, 1) : 0.0F;
    const std::byte* unit = block + format.head_bytes();
    for (int u = 0; u < format.units; ++u, unit += format.unit_bytes()) {
      const Words words = unpack_codes(format.bits, unit, output);
      const std::byte* scales = unit + format.code_bytes();
      for (int i = 0; i < kUnit; ++i) {
        const int g = i * format.groups / kUnit;
        const std::uint32_t bits = words.at[i / 4] >> i % 4 * 8 & 0xff;
        const int code = format.bits == 8 ? static_cast<std::int8_t>(bits)
                                          : static_cast<int>(bits) - format.offset;
        // The operations of dequantising, in its order.
        float value = d;
        float min = m;
        if (format.grouped()) {
          value *= static_cast<float>(static_cast<std::int8_t>(byte(scales, g)));
          if (format.has_min) min *= -static_cast<float>(byte(scales, format.groups + g));
        }
        value *= static_cast<float>(code);
        *out++ = format.has_min ? value + min : value;
      }
    }
  }
}

}  // namespace quire
