#include "cli/analysis/inference/wave_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/analysis/inference/confidence.h"

namespace gputrace::analysis::inference {

namespace {

/// A census and steps that differ by less than this agree.
constexpr double kAgree = 1.0 / 16;
/// A census counts exactly, but a group may come late.
constexpr double kLate = 0.02;
constexpr std::size_t kFewestShapes = 3;
constexpr std::array<double, 9> kFiles{128, 192, 256, 384, 512, 768, 1024, 1536, 2048};
constexpr std::array<double, 8> kSteps{1, 2, 4, 8, 12, 16, 24, 32};
constexpr double kMostUnits = 1024;

const BenchPoint* point_at(const TestResult& test, std::string_view series, double x) {
  for (const BenchSeries& each : test.series) {
    for (const BenchPoint& point : each.points) {
      if (each.name == series && point.x == x && point.median && point.status == TestStatus::kOk) {
        return &point;
      }
    }
  }
  return nullptr;
}

/// Groups that keep no words in registers, at x = 0, are among them.
const BenchPoint* most_groups(const TestResult& test, std::string_view series) {
  const BenchPoint* most = nullptr;
  for (const BenchSeries& each : test.series) {
    for (const BenchPoint& point : each.points) {
      if (each.name == series && point.median && point.status == TestStatus::kOk &&
          (most == nullptr || *point.median > most->median)) {
        most = &point;
      }
    }
  }
  return most;
}

void append_slots(TestResult& test) {
  const BenchPoint* const census = most_groups(test, "census");
  const BenchPoint* const most = census != nullptr ? census : most_groups(test, "steps");
  if (most == nullptr || !(most->median > 0)) {
    return;
  }
  const BenchPoint* const counted = point_at(test, "census", most->x);
  const BenchPoint* const timed = point_at(test, "steps", most->x);
  const double found = most->median.value_or(0);
  Reading slots{found, found, found};
  std::string_view confidence = kLikely;
  std::string by = "groups of 64 threads in flight at once, ";
  if (counted != nullptr) {
    by += "by their own count";
    slots.lower = std::min(slots.value, counted->p5.value_or(slots.value));
    if (timed != nullptr && timed->p5 && timed->p95 && slots.value >= *timed->p5 * (1 - kAgree) &&
        slots.value <= *timed->p95 * (1 + kAgree)) {
      confidence = kSure;
      by += " and by steps of the times";
    }
  } else {
    by += "by steps of the times";
    if (timed != nullptr) {
      slots.lower = std::min(slots.value, timed->p5.value_or(slots.value));
      slots.upper = std::max(slots.value, timed->p95.value_or(slots.value));
    }
  }
  test.derived.push_back(derived_value("slots", slots, "groups", confidence, std::move(by)));
}

struct Shape {
  double registers = 0;
  double groups = 0;
};

std::vector<Shape> shapes_of(const TestResult& test) {
  std::vector<Shape> shapes;
  for (const BenchSeries& series : test.series) {
    for (const BenchPoint& point : series.points) {
      if (series.name == "census" && point.status == TestStatus::kOk && point.median &&
          *point.median > 0 && point.vgprs && *point.vgprs > 0) {
        shapes.push_back({*point.vgprs, *point.median});
      }
    }
  }
  std::ranges::sort(shapes, {}, &Shape::registers);
  return shapes;
}

/// Whether `units` files of so many registers, given out in steps, hold the groups of all shapes.
bool explains(double file, double step, double units, const std::vector<Shape>& shapes) {
  const double most = shapes.front().groups;
  return std::ranges::all_of(shapes, [&](const Shape& shape) {
    const double taken = std::ceil(shape.registers / step) * step;
    const double fit = std::min(most, units * std::floor(file / taken));
    return std::abs(fit - shape.groups) <= kLate * shape.groups;
  });
}

void append_step(TestResult& test) {
  const std::vector<Shape> shapes = shapes_of(test);
  if (shapes.size() < kFewestShapes || shapes.back().groups >= shapes.front().groups) {
    return;
  }
  std::vector<double> found;
  for (const double step : kSteps) {
    const bool possible = std::ranges::any_of(kFiles, [&](double file) {
      const double taken = std::ceil(shapes.back().registers / step) * step;
      const double each = std::floor(file / taken);
      const double units = each > 0 ? std::round(shapes.back().groups / each) : 0;
      return units >= 1 && units <= kMostUnits && explains(file, step, units, shapes);
    });
    if (possible) {
      found.push_back(step);
    }
  }
  if (found.empty()) {
    return;
  }
  const Reading step{found[(found.size() - 1) / 2], found.front(), found.back()};
  test.derived.push_back(derived_value(
      "registers.step", step, "registers a thread", found.size() == 1 ? kLikely : kGuess,
      found.size() == 1
          ? "the only step that explains the groups in flight of all shapes"
          : fmt::format("steps of {} explain the groups in flight alike", fmt::join(found, ", "))));
}

}  // namespace

void read_slots(BenchRun& run) {
  for (TestResult& test : run.tests) {
    if (test.id == "occupancy.registers") {
      append_slots(test);
      append_step(test);
    }
  }
}

}  // namespace gputrace::analysis::inference
