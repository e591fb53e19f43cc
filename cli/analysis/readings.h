// What the readings of a sensor say about a stretch of time: means by the time that each reading
// speaks for, differences of counters, bits that were ever and always set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gputrace::analysis {

/// Readings of one series that followed each other at even distances and gave the same value.
struct ReadingRun {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;  ///< equals start_ns for one reading
  std::uint32_t readings = 1;
  double value = 0;
};

struct TimeRange {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// A longer way to the next reading, compared with the neighbouring distances, means that one
/// failed in between. The clocks of a busy machine move readings by less.
inline constexpr double kGapFactor = 1.75;

/// Gives each run of a series the time that it speaks for: its own, and half of the way to the
/// readings beside it. A way that is over kGapFactor times as long as the distances before and
/// after it belongs to nobody; there, and at the ends, a run reaches as far as on its other side.
class SpokenFor {
 public:
  explicit SpokenFor(const TimeRange& within) : within_(within) {}

  struct Spoken {
    ReadingRun run;
    TimeRange range;  ///< inside `within`
  };
  /// Runs come in order of time. A run's time is known when two more have come.
  [[nodiscard]] std::optional<Spoken> add(const ReadingRun& run);
  /// The runs that are left, one a call; add() must not follow.
  [[nodiscard]] std::optional<Spoken> finish();

 private:
  Spoken take_first();

  TimeRange within_;
  std::vector<ReadingRun> waiting_;    ///< at most three
  std::optional<double> gap_before_;   ///< of the first one that waits
  std::optional<double> half_before_;  ///< of that gap, if the first one speaks for it
};

[[nodiscard]] std::vector<TimeRange> spoken_for(std::span<const ReadingRun> runs,
                                                const TimeRange& within);

/// Sums of one series, or of several of one sensor.
class GaugeSums {
 public:
  explicit GaugeSums(const TimeRange& within) : spoken_(within) {}

  void add(const ReadingRun& run);
  /// After the last run.
  void finish();
  void merge(const GaugeSums& finished);

  [[nodiscard]] std::uint64_t readings() const { return readings_; }
  /// By the time that each reading speaks for; of the readings where none speaks for any.
  [[nodiscard]] std::optional<double> mean() const;
  [[nodiscard]] std::optional<double> smallest() const { return smallest_; }
  [[nodiscard]] std::optional<double> largest() const { return largest_; }
  [[nodiscard]] double covered_s() const { return covered_s_; }

 private:
  void add(const std::optional<SpokenFor::Spoken>& spoken);

  SpokenFor spoken_;
  std::uint64_t readings_ = 0;
  double sum_ = 0;       ///< of readings
  double integral_ = 0;  ///< value times seconds
  double covered_s_ = 0;
  std::optional<double> smallest_;
  std::optional<double> largest_;
};

/// Counters never step back while they count: a smaller value is a new beginning, and how far they
/// came before it is not known.
class CounterSums {
 public:
  void add(const ReadingRun& run);
  void merge(const CounterSums& other);

  [[nodiscard]] std::uint64_t readings() const { return readings_; }
  /// How far it came in covered_s(); absent where no two readings can be compared.
  [[nodiscard]] std::optional<double> total() const;
  [[nodiscard]] double covered_s() const { return covered_s_; }
  [[nodiscard]] std::uint64_t resets() const { return resets_; }

 private:
  std::optional<ReadingRun> last_;
  std::uint64_t readings_ = 0;
  std::uint64_t resets_ = 0;
  double total_ = 0;
  double covered_s_ = 0;
};

struct BitSums {
  std::uint64_t readings = 0;
  std::uint32_t ever = 0;    ///< set in some reading
  std::uint32_t always = 0;  ///< set in all of them

  void add(const ReadingRun& run);
  void merge(const BitSums& other);
};

/// The bits of a reading; absent for a value that is none (negative, above 32 bits, not finite).
[[nodiscard]] std::optional<std::uint32_t> bits_of(double value);

/// Reads a series at moments that only move forward.
class SeriesCursor {
 public:
  /// `runs` and `ranges` (of spoken_for) must outlive it.
  SeriesCursor(std::span<const ReadingRun> runs, std::span<const TimeRange> ranges)
      : runs_(runs), ranges_(ranges) {}
  /// Absent where no reading speaks for the moment.
  [[nodiscard]] std::optional<double> at(std::int64_t time_ns);
  void rewind() { next_ = 0; }

 private:
  std::span<const ReadingRun> runs_;
  std::span<const TimeRange> ranges_;
  std::size_t next_ = 0;
};

/// The q quantile (0 to 1) by nearest rank; absent for nothing. Reorders `values`.
[[nodiscard]] std::optional<double> quantile(std::span<double> values, double q);

}  // namespace gputrace::analysis
