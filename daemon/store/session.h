// What a session file says, as plain data. Shared by writer and reader.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/time.h"
#include "daemon/sampler/gpu_identity.h"
#include "daemon/sampler/sample_block.h"
#include "daemon/sampler/sensor_reader.h"

namespace gputrace::store {

/// Stored as text. Roofline, bench and calibration describe a machine and are kept apart from
/// recordings; background is a day file of the daemon's monitoring.
enum class SessionKind { kRecording, kImport, kRoofline, kBench, kCalibration, kBackground };

struct SessionDescription {
  SessionKind kind = SessionKind::kRecording;
  std::optional<std::string> label;
  std::optional<std::vector<std::string>> command;  ///< argv of CMD; absent without one
  std::optional<TimeAnchor> started;                ///< absent when an import has no clock
  std::string origin;  ///< imports: "radeontop dump trace.txt"; empty for recordings
};

struct SegmentDescription {
  sampler::GpuIdentity gpu;
  std::int64_t start_ns = 0;
  std::optional<double> rate_hz;  ///< absent when an import does not say
  std::string regdb_table;        ///< "11.0.0" or "radeontop": RegisterDatabase::map_for_table
  std::string regdb_revision;
  std::vector<sampler::OfferedRegister> registers;
  std::string reason;  ///< why it began: "start", "register lost: ...", "other GPU"
};

/// Something that happened at a time. `kind` is one lower-case word: "mark", "warning", "lost",
/// "suspend" (docs/database.md lists them).
struct Event {
  std::int64_t time_ns = 0;
  std::string kind;
  std::string text;
};

/// A busy fraction that came without samples (imports of percentages).
struct WindowMean {
  std::size_t register_index = 0;
  std::uint8_t bit = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  double busy = 0;                       ///< 0 to 1
  std::optional<std::uint32_t> samples;  ///< n behind it, when known
};

struct SessionEnd {
  std::int64_t end_ns = 0;
  std::optional<int> exit_code;
  std::optional<int> signal;
};

/// One source of sensors: what is read as a whole.
struct SensorSource {
  std::string name;                                 ///< "gpu_metrics", "pmu amd_umc", an import's
  std::optional<std::string> gpu_pci;               ///< whose; absent = of the whole machine
  std::vector<sampler::SensorDescription> sensors;  ///< each becomes a series
};

/// Totals of a source since the session began.
struct SensorSourceTotals {
  std::uint64_t reads = 0;
  std::uint64_t rejected = 0;
  std::uint64_t failed = 0;
  std::uint64_t late = 0;
  std::uint64_t cost_ns = 0;
  std::uint64_t worst_ns = 0;
  double rate_hz = 0;   ///< the last one; 0 = it was given up or left alone
  std::string problem;  ///< the last one; empty = none
};

/// Readings of one series that followed each other and gave the same value. Times are those of the
/// middle of the first and the last read. A failed read ends a run: nothing speaks for its time.
struct SensorRun {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< equals start_ns for one reading
  std::uint32_t readings = 1;
  double value = 0;
};

/// What the kernel counted for one DRM client (fdinfo): totals since the client was opened.
struct ClientUsage {
  std::int64_t time_ns = 0;
  std::int64_t pid = 0;
  std::string process;  ///< its name, from outside: escape it
  std::string pdev;     ///< PCI address of the GPU: a client is (pdev, client_id)
  std::uint64_t client_id = 0;
  std::map<std::string, std::uint64_t> engine_ns;  ///< "gfx", "compute", "dma", "dec", "enc"
  std::optional<std::uint64_t> vram_bytes;
  std::optional<std::uint64_t> gtt_bytes;
};

/// One frame of an import. The frame ended at `end_ns`.
struct Frame {
  std::int64_t end_ns = 0;
  std::int64_t duration_ns = 0;
};

/// The time grid of counts: cell i speaks for [first_ns + i * kCellNs, ... + kCellNs).
inline constexpr std::int64_t kCellNs = 100 * kNsPerMs;

/// Counts of one register in each cell. A sample is valid, asleep or unknown.
struct RegisterCells {
  std::vector<std::uint32_t> valid;
  std::vector<std::uint32_t> asleep;
  std::vector<std::uint32_t> unknown;
};
/// Counts of one bit: busy samples k, and changes T between neighbouring valid samples (a change
/// belongs to the cell of the later one). n is RegisterCells::valid.
struct BitCells {
  std::size_t register_index = 0;
  std::uint8_t bit = 0;
  std::vector<std::uint32_t> busy;
  std::vector<std::uint32_t> changes;
};
struct SegmentCounts {
  std::int64_t first_ns = 0;
  std::vector<RegisterCells> registers;  ///< in the order of SegmentDescription::registers
  std::vector<BitCells> bits;            ///< in the order asked for
};

}  // namespace gputrace::store
