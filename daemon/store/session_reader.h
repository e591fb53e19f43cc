// Reads session files, which may come from strangers: read only, defensive, every size checked.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/store/results.h"
#include "daemon/store/session.h"

namespace gputrace::store {

struct TimeSpan {
  std::int64_t start_ns = 0;  ///< CLOCK_MONOTONIC of the recording
  std::int64_t end_ns = 0;
};

struct StoredSegment {
  std::int64_t id = 0;
  SegmentDescription description;
  std::int64_t end_ns = 0;         ///< of its last block
  sampler::SamplingTotals totals;  ///< as of its last block
};

struct StoredSensorSource {
  std::int64_t id = 0;
  SensorSource source;
  std::vector<std::int64_t> series;  ///< ids, in the order of source.sensors
  SensorSourceTotals totals;
};

struct BitRef {
  std::size_t register_index = 0;
  std::uint8_t bit = 0;
};

/// Shows the file as it was when it was opened, also while a recorder goes on writing it.
class SessionReader {
 public:
  /// kCorrupt for files that are truncated, foreign or not what their version says; kUnsupported
  /// for newer versions; kPermissionDenied (naming who can) for a WAL left by a crash that the
  /// caller may not finish.
  static Result<SessionReader> open(const std::filesystem::path& path);

  SessionReader(SessionReader&&) noexcept;
  SessionReader& operator=(SessionReader&&) noexcept;
  SessionReader(const SessionReader&) = delete;
  SessionReader& operator=(const SessionReader&) = delete;
  ~SessionReader();

  [[nodiscard]] const SessionDescription& description() const;
  /// Absent when the recording was cut (crash, SIGKILL, still running).
  [[nodiscard]] const std::optional<SessionEnd>& end() const;
  /// Whether the file was still in WAL mode: without an end it is being recorded, or was cut and
  /// somebody else has it open.
  [[nodiscard]] bool in_use() const;
  [[nodiscard]] const std::vector<StoredSegment>& segments() const;
  /// First to last moment that the file speaks for: of samples and means; without any, of sensors
  /// and frames. Absent when it holds nothing.
  [[nodiscard]] std::optional<TimeSpan> span() const;
  [[nodiscard]] Result<std::vector<TimeAnchor>> anchors() const;
  [[nodiscard]] Result<std::vector<Event>> events() const;

  /// Counts on a 100 ms grid. Cells at the ends of `span` count only samples inside it (decoded
  /// from the ticks); absent = the whole segment.
  [[nodiscard]] Result<SegmentCounts> counts(const StoredSegment& segment,
                                             std::span<const BitRef> bits,
                                             std::optional<TimeSpan> span) const;
  /// How many samples of each state a register has in the span.
  struct StateCounts {
    std::array<std::uint64_t, 8> by_state{};  ///< index: sampler::SampleState
  };
  [[nodiscard]] Result<std::vector<StateCounts>> state_counts(const StoredSegment& segment,
                                                              std::optional<TimeSpan> span) const;
  [[nodiscard]] Result<std::vector<WindowMean>> window_means(const StoredSegment& segment) const;

  /// Empty for files of a version without sensors, and for recordings without any.
  [[nodiscard]] Result<std::vector<StoredSensorSource>> sensor_sources() const;
  /// All series in one pass over the file, in the order in which runs ended; the runs of a series
  /// in order of time. Runs that reach over an end of `span` are cut there; their readings are
  /// shared out by time, at least one for each part.
  Status for_each_sensor_run(
      std::optional<TimeSpan> span,
      const std::function<Status(std::int64_t series, const SensorRun& run)>& visit) const;
  /// Those of one series. A pass over the file for each call: for many series use the above.
  [[nodiscard]] Result<std::vector<SensorRun>> sensor_runs(std::int64_t series,
                                                           std::optional<TimeSpan> span) const;
  /// In order of time. Each has everything known of its client at that time (engines that did not
  /// change too), and the client's last pid and name.
  Status for_each_client_usage(const std::function<Status(const ClientUsage&)>& visit) const;
  /// Those that ended in the span, in order of time.
  [[nodiscard]] Result<std::vector<Frame>> frames(std::optional<TimeSpan> span) const;

  /// Of rooflines, benches and calibrations, in the order in which they were stored; of recordings
  /// the summary of a calibration. Empty for files of a version without results, and for those
  /// without any.
  [[nodiscard]] Result<std::vector<ResultRun>> results() const;

  /// Ticks in order, block by block, with exact words. The block is valid during the call.
  Status for_each_block(const StoredSegment& segment, std::optional<TimeSpan> span,
                        const std::function<Status(const sampler::SampleBlock&)>& visit) const;

 private:
  struct Impl;
  explicit SessionReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gputrace::store
