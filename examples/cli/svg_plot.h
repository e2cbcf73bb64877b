// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace cli {

struct PlotLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // x > 0, ascending; y from 0 to 1
  std::string colour = {};                        // empty: the next of the palette
};

// Lines over a logarithmic x axis, or the bands that lie between the lines, each of which is above
// the one before, over a linear one.
enum class PlotKind { kLines, kBands };

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<PlotLine> lines;
  PlotKind kind = PlotKind::kLines;
};

// A chart with y in per cent, as one self-contained SVG document.
std::string render_svg(const Plot& plot);

// Throws Error kIo.
void write_svg(const std::filesystem::path& path, const Plot& plot);

}  // namespace cli
