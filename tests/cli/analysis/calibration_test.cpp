#include "cli/analysis/calibration.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace gputrace::analysis {
namespace {

using doctest::Approx;

Conditions conditions() {
  return {.gpu = "AMD Radeon 780M",
          .vendor_id = 0x1002,
          .device_id = 0x15bf,
          .revision_id = 0xc4,
          .driver = "radv, Mesa 24.2.8",
          .clock_mhz = 2600,
          .power_w = 45};
}

Calibration calibration() {
  Calibration result;
  result.conditions = conditions();
  result.compute = {.name = "fp32", .value = 4600, .lower = {}, .upper = {}, .unit = "GFLOPS"};
  result.bandwidth = {.name = "DRAM copy", .value = 73, .lower = {}, .upper = {}, .unit = "GB/s"};
  return result;
}

TEST_CASE("the ridge needs both ceilings, and both above zero") {
  Calibration known = calibration();
  CHECK(ridge_of(known).value_or(0) == Approx(4600.0 / 73));
  known.compute->value = 0;
  CHECK_FALSE(ridge_of(known).has_value());
  known.compute->value = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(ridge_of(known).has_value());
  known.compute.reset();
  CHECK_FALSE(ridge_of(known).has_value());
  known = calibration();
  known.bandwidth.reset();
  CHECK_FALSE(ridge_of(known).has_value());
}

TEST_CASE("a calibration of the same GPU at the same clock is used as it is") {
  const CalibrationFit fit = fit_of(calibration(), conditions());
  CHECK(fit.use == CalibrationUse::kAsItIs);
  CHECK(fit.ridge_ratio == 1);
  CHECK(fit.widen_octaves == 0);
  CHECK(fit.why.find("2600 MHz") != std::string::npos);
}

TEST_CASE("one of another GPU, of another revision or of a simulated one is refused") {
  Conditions other = conditions();
  other.device_id = 0x1900;
  CHECK(fit_of(calibration(), other).use == CalibrationUse::kRefused);
  CHECK(fit_of(calibration(), other).why.find("15bf") != std::string::npos);
  other = conditions();
  other.revision_id = 0xc7;
  CHECK(fit_of(calibration(), other).use == CalibrationUse::kRefused);
  other = conditions();
  other.simulated = true;
  CHECK(fit_of(calibration(), other).use == CalibrationUse::kRefused);
}

TEST_CASE("names decide only where ids are missing") {
  Conditions other = conditions();
  other.gpu = "Radeon 780M Graphics";
  CHECK(fit_of(calibration(), other).use == CalibrationUse::kAsItIs);
  other.device_id.reset();
  CHECK(fit_of(calibration(), other).use == CalibrationUse::kRefused);
  other.gpu = conditions().gpu;
  CHECK(fit_of(calibration(), other).use == CalibrationUse::kAsItIs);
  Calibration nameless = calibration();
  nameless.conditions.device_id.reset();
  nameless.conditions.gpu.clear();
  other.gpu.clear();
  CHECK(fit_of(nameless, other).use == CalibrationUse::kRefused);
}

TEST_CASE("another driver is used, widened and said") {
  Conditions other = conditions();
  other.driver = "radv, Mesa 25.0.1";
  const CalibrationFit fit = fit_of(calibration(), other);
  CHECK(fit.use == CalibrationUse::kAsItIs);
  CHECK(fit.widen_octaves > 0);
  CHECK(fit.why.find("Mesa 25.0.1") != std::string::npos);
  CHECK(fit.other_driver == "radv, Mesa 25.0.1");
  CHECK_FALSE(fit_of(calibration(), conditions()).other_driver);
}

TEST_CASE("a driver that is not known widens nothing and is said, where there is one to compare") {
  Conditions other = conditions();
  other.driver.reset();
  const CalibrationFit fit = fit_of(calibration(), other);
  CHECK(fit.widen_octaves == 0);
  CHECK_FALSE(fit.other_driver);
  CHECK(fit.why.find("calibrated with radv, Mesa 24.2.8, the recording's driver is not known") !=
        std::string::npos);
  Calibration without = calibration();
  without.conditions.driver.reset();
  CHECK(fit_of(without, conditions()).why.find("driver") == std::string::npos);
}

TEST_CASE("another clock scales the ridge and widens, and one too far away is refused") {
  Conditions slower = conditions();
  slower.clock_mhz = 1900;
  slower.power_w = 25;
  const CalibrationFit fit = fit_of(calibration(), slower);
  CHECK(fit.use == CalibrationUse::kScaled);
  CHECK(fit.ridge_ratio == Approx(1900.0 / 2600));
  CHECK(fit.widen_octaves > 0.1);
  CHECK(fit.why.find("bandwidth of memory was taken as the same") != std::string::npos);
  slower.clock_mhz = 1200;
  slower.power_w = 15;
  const CalibrationFit refused = fit_of(calibration(), slower);
  CHECK(refused.use == CalibrationUse::kRefused);
  CHECK(refused.why.find("1200 MHz") != std::string::npos);
}

TEST_CASE("at the same power a lower clock is the workload's own") {
  Conditions hotter = conditions();
  hotter.clock_mhz = 2200;
  const CalibrationFit fit = fit_of(calibration(), hotter);
  CHECK(fit.use == CalibrationUse::kAsItIs);
  CHECK(fit.ridge_ratio == 1);
  CHECK(fit.widen_octaves > 0);
}

TEST_CASE("the clock compared is that of the points that compute") {
  Calibration limited = calibration();
  limited.conditions.power_w = 24;
  for (const double mhz : {1860.0, 1850.0, 1870.0}) {
    CalibrationPoint point;
    point.truth = Bottleneck::kCompute;
    point.clock_mhz = mhz;
    limited.points.push_back(point);
  }
  const CalibrationFit fit = fit_of(limited, conditions());
  CHECK(fit.use == CalibrationUse::kScaled);
  CHECK(fit.ridge_ratio == Approx(2600.0 / 1860));
}

TEST_CASE("without a clock power decides, and without both the answer is wide and says so") {
  Conditions unknown = conditions();
  unknown.clock_mhz.reset();
  CHECK(fit_of(calibration(), unknown).use == CalibrationUse::kAsItIs);
  CHECK(fit_of(calibration(), unknown).widen_octaves > 0);
  unknown.power_w = 30;
  const double at_30_w = fit_of(calibration(), unknown).widen_octaves;
  CHECK(at_30_w == Approx(std::log2(1.5)));
  unknown.power_w = 15;
  CHECK(fit_of(calibration(), unknown).use == CalibrationUse::kRefused);
  unknown.power_w.reset();
  const CalibrationFit fit = fit_of(calibration(), unknown);
  CHECK(fit.use == CalibrationUse::kAsItIs);
  CHECK(fit.widen_octaves >= 0.5);
  CHECK(fit.why.find("not known") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::analysis
