// The second witnesses of a report as plain data: sensors, energy, memory traffic, processes,
// frames, throttling. Absent means not known, never 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputrace::report {

enum class SensorKind { kGauge, kCounter, kBits };

/// One quantity from one source. Gauges have a mean, counters a total, bit fields their bits.
struct Sensor {
  std::string name;    ///< "package_power"
  std::string source;  ///< "hwmon power1_average"
  std::string label;   ///< what the source calls it; may be empty
  std::string unit;    ///< "W", "bytes"; of the total for counters
  SensorKind kind = SensorKind::kGauge;
  std::string covers;          ///< where it counts more than the GPU: "CPU and GPU together"
  std::string decision;        ///< how a doubtful unit was decided
  bool of_machine = false;     ///< not of the GPU
  std::optional<double> mean;  ///< by time
  std::optional<double> min;   ///< of single readings
  std::optional<double> max;
  std::uint64_t samples = 0;    ///< readings
  double covered_s = 0;         ///< the time that the readings speak for
  std::optional<double> total;  ///< of counters: how far it came in covered_s
  std::uint64_t resets = 0;     ///< of counters: what was counted before each is not known
  std::optional<std::uint32_t> bits_ever;
  std::optional<std::uint32_t> bits_always;
};

/// What is read as a whole. All is about the whole recording, whatever the selection.
struct SensorSource {
  std::string name;  ///< "gpu_metrics"
  bool of_machine = false;
  std::uint64_t reads = 0;     ///< that gave values
  std::uint64_t rejected = 0;  ///< answers that cannot be true
  std::uint64_t failed = 0;
  std::uint64_t late = 0;     ///< did not return in time
  std::uint64_t cost_ns = 0;  ///< of all reads together, those that failed too
  std::uint64_t worst_ns = 0;
  std::optional<double> rate_hz;  ///< the last one; absent when it was left alone
  std::string problem;            ///< the last one; empty = none
};

[[nodiscard]] inline std::uint64_t attempts(const SensorSource& source) {
  return source.reads + source.rejected + source.failed + source.late;
}
/// Mean cost of a read; absent without one.
[[nodiscard]] inline std::optional<double> read_cost_us(const SensorSource& source) {
  return attempts(source) == 0 ? std::nullopt
                               : std::optional(static_cast<double>(source.cost_ns) / 1e3 /
                                               static_cast<double>(attempts(source)));
}

/// Energy of one thing. Entries overlap or not, and are never added up.
struct Energy {
  std::string name;  ///< "package_energy"
  double joules = 0;
  double covered_s = 0;  ///< the time that joules are of
  std::string source;
  bool counted = false;  ///< an energy counter's difference; else power times time
  std::string covers;
  std::uint64_t samples = 0;
};

/// GB/s are 1e9 bytes a second.
struct DramTraffic {
  std::optional<double> read_gbps;
  std::optional<double> write_gbps;
  std::optional<double> total_gbps;  ///< absent when only one direction is known
  double covered_s = 0;
  std::uint64_t samples = 0;
  std::string source;
  std::string covers;
};

/// A process on one GPU.
struct Process {
  std::int64_t pid = 0;
  std::string name;                         ///< from outside
  std::string gpu;                          ///< PCI address
  std::map<std::string, double> gpu_s;      ///< "gfx", "compute", ...
  std::optional<std::uint64_t> vram_bytes;  ///< the largest sum over its clients
  std::optional<std::uint64_t> gtt_bytes;
};

/// Of an import that has frame times.
struct Frames {
  std::uint64_t count = 0;
  double median_ms = 0;
  double p99_ms = 0;
  double fps = 0;  ///< frames per second of frame time
};

/// One bit (or residency counter) by which the firmware says that it holds clocks back.
struct ThrottleBit {
  std::string name;        ///< "PPT0"
  std::string group;       ///< "power", "current", "temperature", "other"
  double share = 0;        ///< of the time that is known, with the bit set
  double supported_s = 0;  ///< with the bit set and evidence beside it
  std::string evidence;    ///< what agrees, with numbers; empty = nothing does, so it is no claim
};
struct Throttling {
  std::uint64_t samples = 0;      ///< readings of the bits
  std::vector<ThrottleBit> bits;  ///< those that were ever set
};

}  // namespace gputrace::report
