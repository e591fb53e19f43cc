#include "daemon/store/session_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "daemon/store/block_rows.h"
#include "daemon/store/client_rows.h"
#include "daemon/store/database.h"
#include "daemon/store/result_rows.h"
#include "daemon/store/segment_counts.h"
#include "daemon/store/segment_rows.h"
#include "daemon/store/sensor_rows.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_row.h"
#include "daemon/store/session_schema.h"

namespace gputrace::store {

namespace {

// Some 30 hours of one series at 100 Hz, of frames at 144 Hz: 300 MB.
constexpr std::size_t kMaxInMemory = 12'000'000;
/// Of sensor readings between passes, compressed.
constexpr std::size_t kMostKeptBytes = std::size_t{24} << 20U;

tl::unexpected<Error> too_many(std::string_view what) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("more than {} {}; choose a shorter time", kMaxInMemory, what));
}

Status for_each_frame(Database& database, const std::function<Status(const Frame&)>& visit) {
  std::int64_t last_ns = 0;
  return for_each_row(database, "SELECT end_ns, duration_ns FROM frames ORDER BY id",
                      [&](const Statement& row) -> Status {
                        const Frame frame{.end_ns = row.integer(0), .duration_ns = row.integer(1)};
                        if (frame.end_ns < last_ns || frame.duration_ns < 0) {
                          return fail(ErrorCode::kCorrupt,
                                      "a frame out of order or of a negative duration");
                        }
                        last_ns = frame.end_ns;
                        return visit(frame);
                      });
}

/// Of the sensors and frames.
Result<std::optional<TimeSpan>> span_without_samples(Database& database,
                                                     const std::vector<StoredSensorSource>& sources,
                                                     KeptRuns& kept) {
  std::optional<TimeSpan> span;
  const auto widen = [&](std::int64_t start_ns, std::int64_t end_ns) -> Status {
    span = span ? TimeSpan{std::min(span->start_ns, start_ns), std::max(span->end_ns, end_ns)}
                : TimeSpan{start_ns, end_ns};
    return {};
  };
  Status status = for_each_run(
      database, sources, std::nullopt, kept,
      [&](std::int64_t, const SensorRun& run) { return widen(run.start_ns, run.end_ns + 1); });
  if (status) {
    status = for_each_frame(database, [&](const Frame& frame) {
      return widen(std::max<std::int64_t>(frame.end_ns - frame.duration_ns, 0), frame.end_ns + 1);
    });
  }
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return span;
}

std::optional<TimeSpan> span_of_samples(const std::vector<StoredSegment>& segments) {
  std::optional<TimeSpan> span;
  for (const StoredSegment& segment : segments) {
    if (segment.end_ns <= segment.description.start_ns) {
      continue;
    }
    if (!span) {
      span = TimeSpan{segment.description.start_ns, segment.end_ns};
    }
    span->start_ns = std::min(span->start_ns, segment.description.start_ns);
    span->end_ns = std::max(span->end_ns, segment.end_ns);
  }
  return span;
}

}  // namespace

struct SessionReader::Impl {
  std::filesystem::path path;
  Database database;
  SessionRow session;
  bool in_use = false;
  std::uint32_t version = 0;
  std::optional<TimeSpan> span = std::nullopt;
  std::vector<StoredSegment> segments = {};
  std::vector<std::vector<std::int64_t>> register_ids = {};
  std::vector<StoredSensorSource> sensor_sources = {};
  KeptRuns kept_runs = KeptRuns(kMostKeptBytes);

  /// Whether it has their tables, and those of processes and frames.
  [[nodiscard]] bool has_sensors() const { return version >= 2; }
  [[nodiscard]] bool has_results() const { return version >= 3; }
  [[nodiscard]] tl::unexpected<Error> cannot_read(const Error& cause) const {
    return fail(cause, "cannot read " + path.string());
  }

  Status load_rest() {
    Result<std::vector<LoadedSegment>> loaded = load_segments(database);
    if (!loaded) {
      return tl::unexpected<Error>(loaded.error());
    }
    for (LoadedSegment& segment : *loaded) {
      segments.push_back(std::move(segment.segment));
      register_ids.push_back(std::move(segment.register_ids));
    }
    span = span_of_samples(segments);
    if (!has_sensors()) {
      return {};
    }
    Result<std::vector<StoredSensorSource>> sources = load_sensor_sources(database);
    if (!sources) {
      return tl::unexpected<Error>(sources.error());
    }
    sensor_sources = std::move(*sources);
    if (!span) {
      const Result<std::optional<TimeSpan>> other =
          span_without_samples(database, sensor_sources, kept_runs);
      if (!other) {
        return tl::unexpected<Error>(other.error());
      }
      span = *other;
    }
    return {};
  }
};

SessionReader::SessionReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SessionReader::SessionReader(SessionReader&&) noexcept = default;
SessionReader& SessionReader::operator=(SessionReader&&) noexcept = default;
SessionReader::~SessionReader() = default;

Result<SessionReader> SessionReader::open(const std::filesystem::path& path) {
  Result<Database> database = open_session_database(path);
  if (!database) {
    return tl::unexpected<Error>(database.error());
  }
  Result<SessionRow> session = load_session(*database);
  if (!session) {
    return fail(session.error(), "cannot read " + path.string());
  }
  const Result<std::uint32_t> version = schema_version(*database);
  if (!version) {
    return fail(version.error(), "cannot read " + path.string());
  }
  const Result<std::string> mode = database->scalar_text("PRAGMA journal_mode");
  auto impl = std::unique_ptr<Impl>(new Impl{.path = path,
                                             .database = std::move(*database),
                                             .session = std::move(*session),
                                             .in_use = mode && *mode == "wal",
                                             .version = *version});
  if (const Status loaded = impl->load_rest(); !loaded) {
    return impl->cannot_read(loaded.error());
  }
  return SessionReader(std::move(impl));
}

const SessionDescription& SessionReader::description() const {
  return impl_->session.description;
}

const std::optional<SessionEnd>& SessionReader::end() const {
  return impl_->session.end;
}

bool SessionReader::in_use() const {
  return impl_->in_use;
}

const std::vector<StoredSegment>& SessionReader::segments() const {
  return impl_->segments;
}

std::optional<TimeSpan> SessionReader::span() const {
  return impl_->span;
}

Result<std::vector<TimeAnchor>> SessionReader::anchors() const {
  std::vector<TimeAnchor> anchors;
  const Status status = for_each_row(
      impl_->database,
      "SELECT monotonic_ns, boottime_ns, realtime_ns FROM anchors ORDER BY monotonic_ns",
      [&](const Statement& row) -> Status {
        anchors.push_back({row.integer(0), row.integer(1), row.integer(2)});
        return {};
      });
  if (!status) {
    return impl_->cannot_read(status.error());
  }
  return anchors;
}

Result<std::vector<Event>> SessionReader::events() const {
  std::vector<Event> events;
  const Status status =
      for_each_row(impl_->database, "SELECT time_ns, kind, text FROM events ORDER BY id",
                   [&](const Statement& row) -> Status {
                     events.push_back({row.integer(0), row.text(1), row.text(2)});
                     return {};
                   });
  if (!status) {
    return impl_->cannot_read(status.error());
  }
  return events;
}

Result<SegmentCounts> SessionReader::counts(const StoredSegment& segment,
                                            std::span<const BitRef> bits,
                                            std::optional<TimeSpan> span) const {
  Result<SegmentCounts> counts = count_segment(impl_->database, segment, bits, span);
  if (!counts) {
    return impl_->cannot_read(counts.error());
  }
  return counts;
}

Result<std::vector<SessionReader::StateCounts>> SessionReader::state_counts(
    const StoredSegment& segment, std::optional<TimeSpan> span) const {
  Result<std::vector<StateCounts>> counts = count_states(impl_->database, segment, span);
  if (!counts) {
    return impl_->cannot_read(counts.error());
  }
  return counts;
}

Result<std::vector<WindowMean>> SessionReader::window_means(const StoredSegment& segment) const {
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < impl_->segments.size(); ++i) {
    if (impl_->segments[i].id == segment.id) {
      ids = impl_->register_ids[i];
    }
  }
  std::vector<WindowMean> means;
  const Status status = for_each_row(
      impl_->database,
      "SELECT register, bit, start_ns, end_ns, busy, samples FROM window_means ORDER BY id",
      [&](const Statement& row) -> Status {
        const auto found = std::find(ids.begin(), ids.end(), row.integer(0));
        if (found == ids.end()) {
          return {};
        }
        WindowMean mean;
        mean.register_index = static_cast<std::size_t>(found - ids.begin());
        mean.bit = static_cast<std::uint8_t>(row.integer(1));
        mean.start_ns = row.integer(2);
        mean.end_ns = row.integer(3);
        mean.busy = row.real(4);
        if (!row.is_null(5)) {
          mean.samples = static_cast<std::uint32_t>(row.integer(5));
        }
        if (row.integer(1) < 0 || row.integer(1) > 31 || mean.end_ns < mean.start_ns ||
            !(mean.busy >= 0 && mean.busy <= 1)) {
          return fail(ErrorCode::kCorrupt, "a window mean outside 0 to 1 or with an odd time");
        }
        means.push_back(mean);
        return {};
      });
  if (!status) {
    return impl_->cannot_read(status.error());
  }
  return means;
}

Result<std::vector<StoredSensorSource>> SessionReader::sensor_sources() const {
  return impl_->sensor_sources;
}

Status SessionReader::for_each_sensor_run(
    std::optional<TimeSpan> span,
    const std::function<Status(std::int64_t, const SensorRun&)>& visit) const {
  if (impl_->sensor_sources.empty()) {
    return {};
  }
  bool refused = false;
  Status status = for_each_run(impl_->database, impl_->sensor_sources, span, impl_->kept_runs,
                               [&](std::int64_t series, const SensorRun& run) {
                                 Status visited = visit(series, run);
                                 refused = !visited;
                                 return visited;
                               });
  return status || refused ? status : Status(impl_->cannot_read(status.error()));
}

Result<std::vector<SensorRun>> SessionReader::sensor_runs(std::int64_t series,
                                                          std::optional<TimeSpan> span) const {
  std::vector<SensorRun> runs;
  if (impl_->sensor_sources.empty()) {
    return runs;
  }
  const Status status = for_each_run_of(impl_->database, impl_->sensor_sources, series, span,
                                        [&](const SensorRun& run) -> Status {
                                          if (runs.size() == kMaxInMemory) {
                                            return too_many("readings of one sensor");
                                          }
                                          runs.push_back(run);
                                          return {};
                                        });
  if (!status) {
    return impl_->cannot_read(status.error());
  }
  return runs;
}

Status SessionReader::for_each_client_usage(
    const std::function<Status(const ClientUsage&)>& visit) const {
  if (!impl_->has_sensors()) {
    return {};
  }
  bool refused = false;
  Status status = for_each_usage(impl_->database, [&](const ClientUsage& usage) {
    Status visited = visit(usage);
    refused = !visited;
    return visited;
  });
  return status || refused ? status : Status(impl_->cannot_read(status.error()));
}

Result<std::vector<Frame>> SessionReader::frames(std::optional<TimeSpan> span) const {
  std::vector<Frame> frames;
  if (!impl_->has_sensors()) {
    return frames;
  }
  const Status status = for_each_frame(impl_->database, [&](const Frame& frame) -> Status {
    if (span && (frame.end_ns < span->start_ns || frame.end_ns >= span->end_ns)) {
      return {};
    }
    if (frames.size() == kMaxInMemory) {
      return too_many("frames");
    }
    frames.push_back(frame);
    return {};
  });
  if (!status) {
    return impl_->cannot_read(status.error());
  }
  return frames;
}

Result<std::vector<ResultRun>> SessionReader::results() const {
  if (!impl_->has_results()) {
    return std::vector<ResultRun>();
  }
  Result<std::vector<ResultRun>> runs = load_results(impl_->database);
  if (!runs) {
    return impl_->cannot_read(runs.error());
  }
  return runs;
}

Status SessionReader::for_each_block(
    const StoredSegment& segment, std::optional<TimeSpan> span,
    const std::function<Status(const sampler::SampleBlock&)>& visit) const {
  TickDecoder decoder(segment);
  // The visitor's own errors are passed on as they are.
  std::optional<Error> visitor_error;
  Status status = for_each_stored_block(
      impl_->database, segment, span, BlockBlobs::kAll, [&](const StoredBlock& stored) -> Status {
        const Result<BlockSummary> summary = decoder.summary(stored);
        if (!summary) {
          return tl::unexpected<Error>(summary.error());
        }
        const Result<sampler::SampleBlock*> block = decoder.ticks(stored, *summary);
        if (!block) {
          return tl::unexpected<Error>(block.error());
        }
        if (span) {
          trim_block(**block, *span);
        }
        Status visited = visit(**block);
        if (!visited) {
          visitor_error = visited.error();
        }
        return visited;
      });
  if (!status && !visitor_error) {
    return impl_->cannot_read(status.error());
  }
  return status;
}

}  // namespace gputrace::store
