// Results of the benches and of the roofline as plain data: what the kernels measured, what the
// renderers show, what a session file stores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputrace::analysis {

/// Suspect: measured, but a proof of the ISA or of the rate failed; shown and never published.
enum class TestStatus { kOk, kSkipped, kSuspect, kFailed };
/// Not done: no assembly to count, no reference rate to compare with.
enum class Proof { kNotDone, kPassed, kFailed };

/// One measured number with what stands behind it.
struct BenchPoint {
  double x = 0;  ///< on the test's axis
  std::optional<double> median;
  std::optional<double> p5;
  std::optional<double> p95;
  std::uint32_t samples = 0;
  TestStatus status = TestStatus::kOk;
  std::string why;  ///< of any other status
  bool drifts = false;
  std::optional<double> code_bytes;
  std::optional<double> vgprs;
  std::optional<double> waves_per_simd;
  std::optional<double> clock_before_mhz;
  std::optional<double> clock_after_mhz;
  std::optional<double> power_w;
  std::optional<std::int64_t> start_ns;  ///< CLOCK_MONOTONIC
  std::optional<std::int64_t> end_ns;
  std::string label =
      {};  ///< as observers were told: "sweep.n16"; empty where several stand behind
};

struct BenchSeries {
  std::string name;  ///< "wave32", "1 chain", "vector"
  std::vector<BenchPoint> points;
};

/// The formula of the kernel against the code that the driver made of it, an invocation and trip.
struct CountCheck {
  std::string kernel;     ///< KernelCase::id
  std::string operation;  ///< "FMA fp32"
  double formula = 0;
  std::optional<double> isa;  ///< absent where no assembly is shown
};

struct DerivedValue {
  std::string what;  ///< "peak.fp32", "dram.copy", "ridge", "L2 size"
  double value = 0;
  std::optional<double> lower;
  std::optional<double> upper;
  std::string unit;        ///< "GFLOPS", "GB/s", "FLOP/B", "B"
  std::string confidence;  ///< "sure", "likely", "a guess"; empty for a plain measurement
  std::string by;          ///< what it was read from
};

struct TestResult {
  std::string id;  ///< "roofline.sweep", "fill.rgba8", "latency.vector"
  TestStatus status = TestStatus::kOk;
  std::string why;        ///< of any other status, and what was left out
  std::string unit;       ///< of the points
  std::string axis;       ///< "arithmetic intensity"
  std::string axis_unit;  ///< "FLOP/B"
  std::vector<BenchSeries> series;
  std::vector<CountCheck> counts;
  Proof result = Proof::kNotDone;
  Proof isa = Proof::kNotDone;
  Proof rate = Proof::kNotDone;
  std::vector<DerivedValue> derived;
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
};

struct BenchDevice {
  std::string name;
  std::optional<std::string> pci;
  std::string driver;       ///< "radv"
  std::string driver_info;  ///< "Mesa 24.2.8"
  std::vector<std::uint32_t> subgroup_sizes;
  bool simulated = false;
  std::optional<std::uint32_t> vendor_id = std::nullopt;  ///< PCI ids, 0x1002
  std::optional<std::uint32_t> device_id = std::nullopt;
  std::optional<std::uint32_t> revision_id = std::nullopt;
};

struct BenchRun {
  BenchDevice device;
  std::string started_at;  ///< RFC 3339, UTC
  bool quick = false;
  bool cancelled = false;  ///< what was measured before it is here
  std::optional<double> clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::vector<TestResult> tests;
};

}  // namespace gputrace::analysis
