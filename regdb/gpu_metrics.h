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

/// No table known here is larger (1.8: 3872 bytes), nor can a file of sysfs be.
inline constexpr std::size_t kMaxMetricsSize = 4096;

/// One member of a table. All are unsigned and little endian.
struct MetricsField {
  std::string name;        ///< of the kernel's struct: "average_gfx_activity"
  std::size_t offset = 0;  ///< bytes from the table's start
  std::size_t width = 0;   ///< bytes of one element: 1, 2, 4 or 8
  std::size_t count = 1;   ///< elements
  /// Of the raw value: "C", "mW", ...; "activity", "power", "temperature": MetricsUnits decides.
  std::string unit;
  double scale = 1;             ///< value = scaled(raw, scale), in `value_unit`; of certain units
  std::string value_unit;       ///< "W", "C", "%"; empty where MetricsUnits decides
  bool zero_is_absent = false;  ///< no machine has 0 C or draws 0 W: the firmware left it out
  std::string sensor;           ///< name of the series, "gfx_activity"; empty = not recorded
  std::string meaning;
};

struct MetricsLayout {
  std::uint8_t format = 0;   ///< 1 = dGPU, 2 and 3 = APU
  std::uint8_t content = 0;  ///< minor
  std::size_t size = 0;
  std::vector<MetricsField> fields;  ///< without the header and padding

  [[nodiscard]] const MetricsField* find(std::string_view name) const;
};

/// number * scale. Divides by scales below 1: 5230 / 100 is the double next to 52.3, as people and
/// JSON write it; 5230 * 0.01 is not.
[[nodiscard]] constexpr double scaled(double number, double scale) noexcept {
  return scale < 1 ? number / (1 / scale) : number * scale;
}

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
  std::size_t element = 0;                ///< of that field
};

/// What a doubtful unit stands for: value = scaled(raw, scale), in `unit`.
struct MetricsScale {
  double scale = 1;
  std::string unit;
  std::string decision;  ///< "centi-percent: driver of GC 11.0.1; range test agrees"
};

/// The units of one table on one machine, decided once. A quantity that no field of the layout
/// has, or whose unit is certain there, has an empty decision.
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

/// The fault in words, without the file's name: "109 of the 128 bytes that its header states".
[[nodiscard]] std::string explain_metrics_fault(const CheckedMetrics& checked,
                                                std::span<const std::byte> table);

/// One element as the bytes have it; absent when all its bits are ones: the driver fills the table
/// with 0xff before it writes what the firmware gave (smu_cmn.c). Allocates nothing.
[[nodiscard]] std::optional<std::uint64_t> raw_metric(std::span<const std::byte> table,
                                                      const MetricsField& field,
                                                      std::size_t element) noexcept;

enum class MetricAbsence {
  kNone,
  kNotProvided,  ///< all bits are ones
  kZero,         ///< zero where zero cannot be
  kOutOfRange,   ///< an activity that there cannot be in the unit that it is taken to have
};
[[nodiscard]] std::string_view to_string(MetricAbsence absence);  ///< in words

struct MetricValue {
  std::optional<double> value;  ///< in metric_unit()
  MetricAbsence absence = MetricAbsence::kNone;
};
/// One element of a table that check_metrics() passed. Allocates nothing.
[[nodiscard]] MetricValue decode_metric(std::span<const std::byte> table, const MetricsField& field,
                                        std::size_t element, const MetricsUnits& units) noexcept;

/// Whether this machine's driver gives the element at all, as far as one table tells: a temperature
/// or an energy of 0 stays so, but a rail may be off now and on later.
[[nodiscard]] bool is_provided(std::span<const std::byte> table, const MetricsField& field,
                               std::size_t element, const MetricsUnits& units) noexcept;

/// The decision of a field's unit; null where the unit is certain.
[[nodiscard]] const MetricsScale* doubtful_unit(const MetricsField& field,
                                                const MetricsUnits& units) noexcept;
/// "W", "C", "%", "MHz", "J", "bits", ...: of decoded values.
[[nodiscard]] const std::string& metric_unit(const MetricsField& field,
                                             const MetricsUnits& units) noexcept;

/// Why a field that has a series is not recorded on this chip; empty = it is.
[[nodiscard]] std::string_view why_unrecorded(const MetricsLayout& layout,
                                              const MetricsField& field,
                                              const std::optional<GcVersion>& gc);

}  // namespace gputrace::regdb
