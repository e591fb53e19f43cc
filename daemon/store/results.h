// Results of a roofline or a bench in a session file, as plain data, and how they get into one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/store/session.h"
#include "daemon/store/session_writer.h"

namespace gputrace::store {

/// Suspect: measured, but a proof failed: never to be published.
enum class ResultStatus { kOk, kSkipped, kSuspect, kFailed };
enum class ResultProof { kNotDone, kPassed, kFailed };

struct ResultPoint {
  double x = 0;
  std::optional<double> median;
  std::optional<double> p5;
  std::optional<double> p95;
  std::uint32_t samples = 0;
  ResultStatus status = ResultStatus::kOk;
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
};

/// A series without points is not kept.
struct ResultSeries {
  std::string name;
  std::vector<ResultPoint> points;
};

/// A kernel's formula against the instructions that were compiled.
struct ResultCount {
  std::string kernel;
  std::string operation;
  double formula = 0;
  std::optional<double> isa;
};

struct ResultValue {
  std::string what;
  double value = 0;
  std::optional<double> lower;
  std::optional<double> upper;
  std::string unit;
  std::string confidence;
  std::string source;  ///< what it was read from
};

struct ResultTest {
  std::string name;
  ResultStatus status = ResultStatus::kOk;
  std::string why;
  std::string unit;  ///< of the points
  std::string axis;
  std::string axis_unit;
  ResultProof result = ResultProof::kNotDone;
  ResultProof isa = ResultProof::kNotDone;
  ResultProof rate = ResultProof::kNotDone;
  std::optional<std::int64_t> start_ns;
  std::optional<std::int64_t> end_ns;
  std::vector<ResultSeries> series;
  std::vector<ResultCount> counts;
  std::vector<ResultValue> values;
};

/// One run on one device.
struct ResultRun {
  std::string started_at;  ///< RFC 3339, UTC
  std::string device;
  std::optional<std::string> pci;
  std::optional<std::uint32_t> vendor_id;
  std::optional<std::uint32_t> device_id;
  std::optional<std::uint32_t> revision_id;
  std::string driver;
  std::string driver_info;
  std::vector<std::uint32_t> subgroup_sizes;
  bool simulated = false;
  bool quick = false;
  bool cancelled = false;
  std::optional<double> clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::vector<ResultTest> tests;
};

/// Adds runs to a finished file of kind roofline, bench, calibration or recording (the summary of a
/// calibration): all of them or, after an error, none. kInvalidArgument: a number that is not
/// finite, a text that is too long (`why` is shortened instead), a file of another kind.
/// kUnsupported: a file of an older or newer version. kBusy: it is still being recorded, or read.
/// Not in the process that writes the file.
[[nodiscard]] Status append_results(const std::filesystem::path& path,
                                    std::span<const ResultRun> runs);

/// A file with results and no recording. Errors as SessionWriter::create and above; after one there
/// is no file.
[[nodiscard]] Status create_result_file(const std::filesystem::path& path, OnExisting on_existing,
                                        const SessionDescription& description,
                                        const SessionEnd& end, std::span<const ResultRun> runs);

}  // namespace gputrace::store
