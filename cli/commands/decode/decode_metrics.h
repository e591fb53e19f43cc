// `decode --gpu-metrics FILE`: a table of amdgpu's metrics, field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/gpu_metrics.h"
#include "regdb/throttle.h"

namespace gputrace::commands {

/// One element of one field.
struct DecodedMetric {
  const regdb::MetricsField* field = nullptr;
  std::optional<std::size_t> element;  ///< of an array
  std::uint64_t raw = 0;               ///< all ones where nothing is provided
  std::optional<double> value;
  std::string absent;                          ///< why there is no value
  std::vector<regdb::ThrottleReason> reasons;  ///< of fields that say why clocks are held back
};

struct DecodedTable {
  std::string file;
  const regdb::MetricsLayout* layout = nullptr;
  std::size_t trailing_bytes = 0;  ///< behind the table; of a long file only the first are counted
  std::optional<regdb::GcVersion> gc;
  regdb::MetricsUnits units;
  std::vector<DecodedMetric> metrics;
};

/// Unit of the bytes: "mW"; of doubtful ones as decided.
[[nodiscard]] std::string raw_unit(const regdb::MetricsField& field,
                                   const regdb::MetricsUnits& units);
/// "0.1GT/s" and the like have no symbol of their own; a number as people write it.
[[nodiscard]] std::string value_in_text(double value);

/// kIo and the like: it cannot be read. kCorrupt: it is no table, or none that can be true.
[[nodiscard]] Result<DecodedTable> decode_metrics_file(const std::string& file,
                                                       const std::optional<regdb::GcVersion>& gc);

[[nodiscard]] std::string metrics_to_text(const DecodedTable& table);
[[nodiscard]] std::string metrics_to_json(const DecodedTable& table);

}  // namespace gputrace::commands
