// What the bytes of amdgpu's gpu_metrics file mean: the layouts of all revisions
// (kgd_pp_interface.h), and how the units of a table are decided. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/gc_version.h"

namespace gputrace::regdb {

/// One member of a table. All are unsigned and little endian.
struct MetricsField {
  std::string name;        ///< of the kernel's struct: "average_gfx_activity"
  std::size_t offset = 0;  ///< bytes from the table's start
  std::size_t width = 0;   ///< bytes of one element: 1, 2, 4 or 8
  std::size_t count = 1;   ///< elements
  /// Without doubt "C", "MHz", ...; "activity", "power", "temperature": MetricsUnits decides.
  std::string unit;
  std::string sensor;  ///< name of the series, "gfx_activity"; empty = not recorded
  std::string meaning;
};

struct MetricsLayout {
  std::uint8_t format = 0;   ///< 1 = dGPU, 2 and 3 = APU
  std::uint8_t content = 0;  ///< minor
  std::size_t size = 0;
  std::vector<MetricsField> fields;  ///< without the header and padding

  [[nodiscard]] const MetricsField* find(std::string_view name) const;
};

/// 1.0 to 1.8, 2.0 to 2.4, 3.0; null for others. They live as long as the program.
[[nodiscard]] const MetricsLayout* find_metrics_layout(std::uint8_t format, std::uint8_t content);

enum class MetricsFault {
  kNone,
  kEmpty,            ///< no bytes: Raven's driver gives none
  kTruncated,        ///< fewer bytes than the header says
  kUnknownRevision,  ///< a revision without a layout here, or a size that is not its own
  kAllZero,          ///< a body of zeros only: Van Gogh's second read after a rewind
  kImplausible,      ///< torn or garbage: a value that no machine has (2112 C)
};

/// The table's layout if the bytes are one whole table that can be true.
struct CheckedMetrics {
  MetricsFault fault = MetricsFault::kNone;
  const MetricsLayout* layout = nullptr;  ///< null with a fault, kImplausible excepted
  const MetricsField* field = nullptr;    ///< of kImplausible: which one
};

/// What a doubtful unit stands for: value = raw * scale, in `unit`.
struct MetricsScale {
  double scale = 1;
  std::string unit;
  std::string decision;  ///< "centi-percent: driver of GC 11.0.1; range test agrees"
};

/// The units of one table on one machine, decided once.
struct MetricsUnits {
  MetricsScale activity;
  MetricsScale power;  ///< of average_socket_power and the like
  MetricsScale temperature;
};

/// By chip and revision, then confirmed or overruled by what the values can be. Without `gc` the
/// values alone decide, and the decision says so.
[[nodiscard]] MetricsUnits decide_metrics_units(std::span<const std::byte> table,
                                                const MetricsLayout& layout,
                                                const std::optional<GcVersion>& gc);

/// `units` sharpens the limits where it is given. Allocates nothing.
[[nodiscard]] CheckedMetrics check_metrics(std::span<const std::byte> table,
                                           const MetricsUnits* units) noexcept;

/// One element as the bytes have it; absent when all its bits are ones: the driver fills the table
/// with 0xff before it writes what the firmware gave (smu_cmn.c). Allocates nothing.
[[nodiscard]] std::optional<std::uint64_t> raw_metric(std::span<const std::byte> table,
                                                      const MetricsField& field,
                                                      std::size_t element) noexcept;

}  // namespace gputrace::regdb
