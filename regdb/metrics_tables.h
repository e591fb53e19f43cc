// The *.tab files of regdb/metrics, embedded at build time. A fault in them is a fault of the
// program.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "regdb/gc_version.h"
#include "regdb/gpu_metrics.h"
#include "regdb/throttle.h"

namespace gputrace::regdb {

/// Defined by the build (gputrace_embed): file name without folder, and text.
std::span<const std::pair<std::string_view, std::string_view>> embedded_metrics_files();

/// First and last version, both included. Without them: every GPU, of unknown version too.
struct GcRange {
  std::optional<GcVersion> first;
  std::optional<GcVersion> last;

  [[nodiscard]] bool contains(const std::optional<GcVersion>& gc) const;
};

struct UnitRule {
  std::string quantity;  ///< "activity", "power", "temperature"
  std::uint8_t format = 0;
  std::optional<std::uint8_t> content;  ///< absent: each
  GcRange range;
  std::string unit;  ///< "percent", "centi-percent", "W", "mW", "C", "centi-C"
  std::string why;
};

struct UnrecordedRule {
  std::uint8_t format = 0;
  GcRange range;
  std::string field;
  std::string why;
};

struct ThrottleList {
  std::vector<GcRange> ranges;  ///< empty: the bits that all drivers share
  std::vector<ThrottleReason> bits;
};

struct MetricsTables {
  std::vector<MetricsLayout> layouts;
  std::vector<UnitRule> units;
  std::vector<UnrecordedRule> unrecorded;
  std::vector<ThrottleList> throttle;
};

/// Parsed at the first call.
[[nodiscard]] const MetricsTables& metrics_tables();

}  // namespace gputrace::regdb
