#include "cli/report/class_style.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputrace {
namespace {

using analysis::Bottleneck;
using Rgb = std::array<double, 3>;
using Matrix = std::array<Rgb, 3>;

Rgb linear(std::string_view colour) {
  Rgb rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(std::string(colour.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    rgb.at(i) = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

Rgb times(const Matrix& matrix, const Rgb& v) {
  Rgb result{};
  for (std::size_t i = 0; i < 3; ++i) {
    result.at(i) = matrix.at(i)[0] * v[0] + matrix.at(i)[1] * v[1] + matrix.at(i)[2] * v[2];
  }
  return result;
}

/// WCAG 2.2, relative luminance and contrast ratio.
double contrast(std::string_view a, std::string_view b) {
  const auto luminance = [](std::string_view colour) {
    const Rgb rgb = linear(colour);
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2] + 0.05;
  };
  return std::max(luminance(a), luminance(b)) / std::min(luminance(a), luminance(b));
}

// Machado, Oliveira, Fernandes 2009, severity 1.
constexpr Matrix kNormal{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kProtan{{{0.152286, 1.052583, -0.204868},
                          {0.114503, 0.786281, 0.099216},
                          {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeutan{{{0.367322, 0.860646, -0.227968},
                          {0.280085, 0.672501, 0.047413},
                          {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kTritan{{{1.255528, -0.076749, -0.178779},
                          {-0.078411, 0.930809, 0.147602},
                          {0.004733, 0.691367, 0.303900}}};
// Ottosson 2020, from linear sRGB.
constexpr Matrix kCones{{{0.4122214708, 0.5363325363, 0.0514459929},
                         {0.2119034982, 0.6806995451, 0.1073969566},
                         {0.0883024619, 0.2817188376, 0.6299787005}}};
constexpr Matrix kLab{{{0.2104542553, 0.7936177850, -0.0040720468},
                       {1.9779984951, -2.4285922050, 0.4505937099},
                       {0.0259040371, 0.7827717662, -0.8086757660}}};

Rgb oklab(std::string_view colour, const Matrix& vision) {
  Rgb seen = times(vision, linear(colour));
  for (double& value : seen) {
    value = std::clamp(value, 0.0, 1.0);
  }
  Rgb cones = times(kCones, seen);
  for (double& value : cones) {
    value = std::cbrt(value);
  }
  return times(kLab, cones);
}

double distance(const Rgb& a, const Rgb& b) {
  return 100 * std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

const std::vector<Bottleneck> kHues{
    Bottleneck::kBandwidth, Bottleneck::kLatency, Bottleneck::kMemory,   Bottleneck::kCompute,
    Bottleneck::kTexture,   Bottleneck::kRaster,  Bottleneck::kGeometry, Bottleneck::kCpu};

TEST_CASE("every class stands out from its ground, light and dark") {
  for (const Bottleneck bottleneck : report::kAllClasses) {
    const report::ClassStyle& style = report::class_style(bottleneck);
    CAPTURE(style.letter);
    CHECK(contrast(style.light, report::kLightGround) >= 3);
    CHECK(contrast(style.dark, report::kDarkGround) >= 3);
  }
}

TEST_CASE("no two hues look alike, to the colour-blind either") {
  for (const Matrix* vision : {&kNormal, &kProtan, &kDeutan, &kTritan}) {
    for (std::size_t i = 0; i < kHues.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto& a = report::class_style(kHues[i]);
        const auto& b = report::class_style(kHues[j]);
        CAPTURE(a.letter);
        CAPTURE(b.letter);
        CHECK(distance(oklab(a.light, *vision), oklab(b.light, *vision)) >= 10);
        CHECK(distance(oklab(a.dark, *vision), oklab(b.dark, *vision)) >= 10);
      }
    }
  }
}

TEST_CASE("without colours classes differ by letter, pattern and mark") {
  std::set<char> letters;
  std::set<report::Pattern> patterns;
  std::set<report::Mark> marks;
  std::size_t marked = 0;
  for (const Bottleneck bottleneck : report::kAllClasses) {
    const report::ClassStyle& style = report::class_style(bottleneck);
    letters.insert(style.letter);
    patterns.insert(style.pattern);
    if (style.mark != report::Mark::kNone) {
      marks.insert(style.mark);
      ++marked;
    }
  }
  CHECK(letters.size() == report::kAllClasses.size());
  CHECK(patterns.size() == report::kAllClasses.size());
  CHECK(marks.size() == marked);
}

}  // namespace
}  // namespace gputrace
