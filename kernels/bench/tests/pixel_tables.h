// What `bench fill` and `bench texture` share: results whose points are rates of pixel kernels.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/bench/roofline_part.h"

namespace gputrace::bench {

struct PixelTable {
  std::string id;
  std::string unit;
  std::string axis;
  std::string axis_unit;
};

struct PixelPoint {
  std::uint32_t trips = 1;
  std::uint32_t groups = 1;
  WorkOf work = nullptr;  ///< per ns: the median in the table's unit of 1e9 a second
  std::string series;
  double x = 0;
  unsigned rank = 0;  ///< as RooflinePoint::rank
};

/// A plan for measure_points(): tables, of kernels, of points. The first point of a kernel is also
/// the one with which its result is proven.
class PixelTables {
 public:
  void begin_table(const PixelTable& table);
  void add_kernel(RooflineKernel kernel) { kernels_.push_back(std::move(kernel)); }
  /// Of the table and the kernel that came last.
  void add_point(const PixelPoint& point);

  /// One result for each table, in their order, points ascending, concluded. The plan is used up.
  [[nodiscard]] std::vector<analysis::TestResult> measure(TestContext& context);

 private:
  std::vector<RooflineKernel> kernels_;
  std::vector<RooflinePoint> points_;
  std::vector<analysis::TestResult> tests_;
};

/// Adds the test's best point as "ID.peak".
void derive_peak(analysis::TestResult& test, const std::string& unit);

[[nodiscard]] analysis::DerivedValue scaled(analysis::DerivedValue value, double factor);

}  // namespace gputrace::bench
