// SPDX-License-Identifier: Apache-2.0
// Unit vectors in rows, scanned whole. A row's number changes only when another one is removed: the
// last row then takes its place.
//
// A scan reads a quarter of the memory that the vectors take: it goes over codes of 8 bits first,
// with a bound on how far each one's product can be from the vector's own, and takes the exact
// product of every row that the bounds cannot exclude. So what it finds is exact.
//
// Thread-safety: const methods may run concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quire {

struct Near {
  std::size_t row = 0;
  double score = 0;  // cosine
};

class VectorTable {
 public:
  explicit VectorTable(std::size_t dimension) : dimension_(dimension) {}

  std::size_t rows() const { return coded_.size(); }
  std::size_t bytes() const;
  std::span<const float> row(std::size_t row) const;

  // REQUIRES: unit.size() is the dimension.
  void add(std::span<const float> unit);
  // The last row moves to `row`.
  void remove(std::size_t row);

  // The `count` rows of the greatest cosines, nearest first; equal ones by row.
  std::vector<Near> nearest(std::span<const float> unit, std::size_t count) const;

 private:
  // A vector is about scale * its codes; `error`: the length of what is missing.
  struct Coded {
    float scale = 0;
    float error = 0;
  };

  Coded encode(std::span<const float> unit, std::int8_t* codes) const;
  std::vector<Near> possible(std::span<const float> unit, std::size_t count) const;

  std::size_t dimension_;
  std::vector<float> values_;
  std::vector<std::int8_t> codes_;
  std::vector<Coded> coded_;
};

}  // namespace quire
