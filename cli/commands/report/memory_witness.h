// What memory did in any stretch of a recording: DRAM traffic and how long memory was in use, by
// equal bins, so that a stretch costs no pass over the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/analysis/bottleneck.h"
#include "cli/commands/report/sensor_set.h"

namespace gputrace::commands {

/// A quantity over time.
class RateTrack {
 public:
  RateTrack() = default;
  explicit RateTrack(const analysis::TimeRange& within);

  /// `rate` holds for the range; ranges may come in any order and must not overlap.
  void add(const analysis::TimeRange& range, double rate);
  /// After the last one.
  void finish();
  /// By time; absent where readings speak for less than half of the range.
  [[nodiscard]] std::optional<double> mean(const analysis::TimeRange& range) const;
  [[nodiscard]] std::int64_t bin_ns() const { return bin_ns_; }

 private:
  struct Sums {
    double integral = 0;  ///< rate times ns
    double covered_ns = 0;
  };
  [[nodiscard]] Sums before(double bin) const;

  analysis::TimeRange within_;
  std::int64_t bin_ns_ = 1;
  std::vector<Sums> bins_;  ///< sums over all bins before it, once finished
};

class MemoryTrack {
 public:
  /// One pass over the readings; `session_start_ns` is second 0.
  static Result<MemoryTrack> load(const SensorSet& set, std::int64_t session_start_ns);

  /// What to compare traffic with. DRAM that turns from reads to writes all the time moves less
  /// than one that only reads or only writes.
  struct Ceilings {
    double copy_gbps = 0;  ///< as many reads as writes
    std::optional<double> read_gbps = std::nullopt;
    std::optional<double> write_gbps = std::nullopt;
    std::string source;
  };
  void set_ceilings(Ceilings ceilings) { ceilings_ = std::move(ceilings); }
  [[nodiscard]] std::optional<analysis::MemoryWitness> at(double start_s, double end_s) const;
  /// For the mix of reads and writes in the range, as far as it is known.
  [[nodiscard]] std::optional<double> ceiling_gbps(const analysis::TimeRange& range) const;
  /// Read and write together.
  [[nodiscard]] std::optional<double> gbps(const analysis::TimeRange& range) const;
  [[nodiscard]] std::int64_t session_start_ns() const { return session_start_ns_; }
  [[nodiscard]] bool has_traffic() const { return traffic_.has_value(); }

 private:
  struct Traffic {
    std::vector<RateTrack> parts;  ///< B/s, to be added up; of two the first is that of reads
    std::string source;
    std::string covers;
  };
  struct Activity {
    RateTrack percent;
    std::string source;
    std::string covers;
  };
  std::int64_t session_start_ns_ = 0;
  double reading_s_ = 0;  ///< between two readings
  double bin_s_ = 0;
  std::optional<Traffic> traffic_;
  std::optional<Activity> activity_;
  std::optional<Ceilings> ceilings_;
};

}  // namespace gputrace::commands
