// Writes one session file. Used by one thread. Nothing that was committed is lost by a crash.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/store/session.h"

namespace gputrace::store {

enum class OnExisting { kRefuse, kReplace };

class SessionWriter {
 public:
  /// Creates the file (mode 0600, background 0640; O_NOFOLLOW; a symlink in its place is refused
  /// even with kReplace) in WAL mode with synchronous=FULL. kExists, kPermissionDenied, kNoSpace
  /// tell apart what went wrong.
  static Result<SessionWriter> create(const std::filesystem::path& path, OnExisting on_existing,
                                      const SessionDescription& description);

  SessionWriter(SessionWriter&&) noexcept;
  SessionWriter& operator=(SessionWriter&&) noexcept;
  SessionWriter(const SessionWriter&) = delete;
  SessionWriter& operator=(const SessionWriter&) = delete;
  ~SessionWriter();  ///< without finish(): the file stays as a cut session

  /// Blocks, means and totals that follow belong to this segment.
  Status begin_segment(const SegmentDescription& description);
  /// Encodes a block (bit planes, zstd; 1 us stamps; n, k, changes per 100 ms; busy rows per unit
  /// and second; the block's totals). Not durable before commit().
  Status write_block(const sampler::SampleBlock& block);
  Status write_window_means(std::span<const WindowMean> means);
  Status write_anchor(const TimeAnchor& anchor);
  Status write_event(const Event& event);
  /// Before its first run. Returns the id of the source; its series are ids[0], ids[1], ...
  struct DefinedSource {
    std::int64_t id = 0;
    std::vector<std::int64_t> series;  ///< in the order of SensorSource::sensors
  };
  Result<DefinedSource> define_sensor_source(const SensorSource& source);
  /// kInvalidArgument, and nothing written, when the run begins before the series' last one ended,
  /// or its value is not finite (bits: not a whole number of 32 bits).
  Status write_sensor_run(std::int64_t series, const SensorRun& run);
  /// Replaces what was said of the source before.
  Status write_sensor_totals(std::int64_t source, const SensorSourceTotals& totals);
  /// Kept only where it differs from the client's last one. In order of time, of all clients; never
  /// in a background file, which the whole group may read.
  Status write_client_usage(const ClientUsage& usage);
  /// In order of time.
  Status write_frames(std::span<const Frame> frames);
  /// Ends the transaction: one sync.
  Status commit();
  /// Writes the end, commits, checkpoints and turns WAL off so that the file stands alone. With a
  /// reader connected it stays in WAL mode after 2 s (valid; returned as true in `still_wal`).
  struct Finished {
    bool still_wal = false;
  };
  Result<Finished> finish(const SessionEnd& end);

  [[nodiscard]] const std::filesystem::path& path() const;

 private:
  struct Impl;
  explicit SessionWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gputrace::store
