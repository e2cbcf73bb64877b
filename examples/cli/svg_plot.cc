// SPDX-License-Identifier: Apache-2.0
#include "svg_plot.h"

#include <quire/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>

namespace cli {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 440;
constexpr double kLeft = 64;
constexpr double kRight = 600;  // the legend stands to the right
constexpr double kTop = 44;
constexpr double kBottom = 388;
constexpr double kLabelWidth = 36;  // of a number below the axis

// Distinct without relying on red against green (Okabe and Ito's palette).
constexpr std::array<std::string_view, 8> kColours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#000000", "#999999"};

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

// 1000 -> "1k", 2500000 -> "2.5M".
std::string short_number(double value) {
  std::ostringstream out;
  if (value >= 1e6) {
    out << value / 1e6 << 'M';
  } else if (value >= 1e3) {
    out << value / 1e3 << 'k';
  } else {
    out << value;
  }
  return out.str();
}

class Canvas {
 public:
  Canvas(double x_min, double x_max, PlotKind kind)
      : logarithmic_(kind == PlotKind::kLines), low_(scaled(x_min)), span_(scaled(x_max) - low_) {
    if (span_ <= 0) span_ = 1;
  }

  double x(double value) const { return kLeft + (scaled(value) - low_) / span_ * (kRight - kLeft); }
  static double y(double share) { return kBottom - share * (kBottom - kTop); }

  void line(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
    out_ << "<line x1='" << x1 << "' y1='" << y1 << "' x2='" << x2 << "' y2='" << y2 << "' stroke='"
         << colour << "' stroke-width='" << width << "'/>\n";
  }

  void text(double x, double y, std::string_view anchor, std::string_view words, double size = 12) {
    out_ << "<text x='" << x << "' y='" << y << "' text-anchor='" << anchor << "' font-size='"
         << size << "'>" << escape(words) << "</text>\n";
  }

  void curve(const PlotLine& line, std::string_view colour) {
    out_ << "<polyline fill='none' stroke='" << colour << "' stroke-width='2' points='";
    for (const auto& [px, py] : line.points) out_ << x(px) << ',' << y(py) << ' ';
    out_ << "'/>\n";
    for (const auto& [px, py] : line.points) {
      out_ << "<circle r='3' fill='" << colour << "' cx='" << x(px) << "' cy='" << y(py) << "'/>\n";
    }
  }

  // What lies between two lines of the same x; without a `below`, down to 0.
  void band(const PlotLine* below, const PlotLine& line, std::string_view colour) {
    out_ << "<polygon fill='" << colour << "' points='";
    for (const auto& [px, py] : line.points) out_ << x(px) << ',' << y(py) << ' ';
    for (std::size_t i = line.points.size(); i-- > 0;) {
      out_ << x(line.points[i].first) << ',' << y(below ? below->points[i].second : 0) << ' ';
    }
    out_ << "'/>\n";
  }

  std::string finish() const {
    std::ostringstream document;
    document << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << kWidth << ' ' << kHeight
             << "' font-family='sans-serif'>\n<rect width='100%' height='100%' fill='white'/>\n"
             << out_.str() << "</svg>\n";
    return document.str();
  }

 private:
  double scaled(double value) const { return logarithmic_ ? std::log10(value) : value; }

  bool logarithmic_;
  double low_;
  double span_;
  std::ostringstream out_;
};

// All x that a line has, ascending; at least one.
std::vector<double> all_x(const Plot& plot) {
  std::vector<double> values;
  for (const PlotLine& line : plot.lines) {
    for (const auto& point : line.points) values.push_back(point.first);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.empty()) values.push_back(1);
  return values;
}

// The multiples of 1, 2 or 5 times a power of ten that lie between: at most ten.
std::vector<double> round_numbers(double low, double high) {
  const double least = std::max((high - low) / 10, 1e-9);
  const double power = std::pow(10, std::floor(std::log10(least)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if (factor * power >= least) step = factor * power;
  }
  std::vector<double> values;
  for (double at = std::ceil(low / step); at * step <= high; ++at) values.push_back(at * step);
  return values;
}

}  // namespace

std::string render_svg(const Plot& plot) {
  const std::vector<double> values = all_x(plot);
  Canvas canvas(values.front(), values.back(), plot.kind);
  canvas.text((kLeft + kRight) / 2, 24, "middle", plot.title, 15);
  for (int percent = 0; percent <= 100; percent += 20) {
    const double y = Canvas::y(percent / 100.0);
    canvas.line(kLeft, y, kRight, y, percent == 0 ? "#333333" : "#dddddd", 1);
    canvas.text(kLeft - 8, y + 4, "end", std::to_string(percent) + " %");
  }
  double last_label = -1e9;
  const bool bands = plot.kind == PlotKind::kBands;
  for (const double tick : bands ? round_numbers(values.front(), values.back()) : values) {
    const double x = canvas.x(tick);
    canvas.line(x, kBottom, x, kBottom + 4, "#333333", 1);
    if (x - last_label < kLabelWidth) continue;
    canvas.text(x, kBottom + 18, "middle", short_number(tick));
    last_label = x;
  }
  canvas.text((kLeft + kRight) / 2, kBottom + 40, "middle", plot.x_label);
  canvas.text(kLeft, kTop - 8, "middle", plot.y_label);
  double legend = kTop + 8;
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const std::string& own = plot.lines[i].colour;
    const std::string_view colour = own.empty() ? kColours[i % kColours.size()] : own;
    if (bands) {
      canvas.band(i == 0 ? nullptr : &plot.lines[i - 1], plot.lines[i], colour);
    } else {
      canvas.curve(plot.lines[i], colour);
    }
    canvas.line(kRight + 16, legend, kRight + 40, legend, colour, 3);
    canvas.text(kRight + 48, legend + 4, "start", plot.lines[i].name);
    legend += 22;
  }
  return canvas.finish();
}

void write_svg(const std::filesystem::path& path, const Plot& plot) {
  std::ofstream file(path, std::ios::binary);
  file << render_svg(plot);
  file.close();
  if (!file) throw quire::Error(quire::ErrorCode::kIo, path.string(), "cannot be written");
}

}  // namespace cli
