#include "daemon/store/session_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "daemon/store/block_rows.h"
#include "daemon/store/database.h"
#include "daemon/store/segment_counts.h"
#include "daemon/store/segment_rows.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_kind.h"

namespace gputrace::store {

namespace {

/// Runs a query and hands every row to `visit`.
Status for_each_row(Database& database, std::string_view sql,
                    const std::function<Status(const Statement&)>& visit) {
  Result<Statement> query = database.prepare(sql);
  if (!query) {
    return tl::unexpected<Error>(query.error());
  }
  for (;;) {
    const Result<bool> row = query->step();
    if (!row) {
      return tl::unexpected<Error>(row.error());
    }
    if (!*row) {
      return {};
    }
    if (Status status = visit(*query); !status) {
      return status;
    }
  }
}

struct SessionRow {
  SessionDescription description;
  std::optional<SessionEnd> end;
};

Result<SessionRow> load_session(Database& database) {
  std::optional<SessionRow> session;
  Status status = for_each_row(
      database,
      "SELECT kind, label, origin, started_monotonic_ns, started_boottime_ns, "
      "started_realtime_ns, end_ns, exit_code, signal FROM session",
      [&](const Statement& row) -> Status {
        const std::optional<SessionKind> kind = parse_session_kind(row.text(0));
        if (!kind) {
          return fail(ErrorCode::kCorrupt, "a session of an unknown kind");
        }
        SessionRow& loaded = session.emplace();
        loaded.description.kind = *kind;
        if (!row.is_null(1)) {
          loaded.description.label = row.text(1);
        }
        loaded.description.origin = row.text(2);
        if (!row.is_null(3)) {
          loaded.description.started = {row.integer(3), row.integer(4), row.integer(5)};
        }
        if (!row.is_null(6)) {
          SessionEnd& end = loaded.end.emplace();
          end.end_ns = row.integer(6);
          if (!row.is_null(7)) {
            end.exit_code = static_cast<int>(row.integer(7));
          }
          if (!row.is_null(8)) {
            end.signal = static_cast<int>(row.integer(8));
          }
        }
        return {};
      });
  if (!session) {
    return status ? fail(ErrorCode::kCorrupt, "the session row is missing")
                  : tl::unexpected<Error>(status.error());
  }
  if (status) {
    status = for_each_row(database, "SELECT word FROM command_words ORDER BY position",
                          [&](const Statement& row) -> Status {
                            std::optional<std::vector<std::string>>& command =
                                session->description.command;
                            (command ? *command : command.emplace()).push_back(row.text(0));
                            return {};
                          });
  }
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return std::move(*session);
}

/// Keeps the ticks inside the span.
void trim(sampler::SampleBlock& block, const TimeSpan& span) {
  const auto times = std::span(block.time_ns).first(block.size);
  const auto lower = std::lower_bound(times.begin(), times.end(), span.start_ns);
  const auto upper = std::lower_bound(lower, times.end(), span.end_ns);
  const auto begin = lower - times.begin();
  const auto size = upper - lower;
  if (static_cast<std::size_t>(size) == block.size) {
    return;
  }
  const auto shift = [&](auto& column, std::size_t offset) {
    const auto first = column.begin() + static_cast<std::ptrdiff_t>(offset);
    std::copy(first + begin, first + begin + size, first);
  };
  shift(block.time_ns, 0);
  for (std::size_t r = 0; r < block.register_count; ++r) {
    shift(block.words, r * block.capacity);
    shift(block.states, r * block.capacity);
  }
  block.size = static_cast<std::size_t>(size);
  block.start_ns = std::max(block.start_ns, span.start_ns);
  block.end_ns = std::min(block.end_ns, span.end_ns);
}

}  // namespace

struct SessionReader::Impl {
  std::filesystem::path path;
  Database database;
  SessionRow session;
  bool in_use = false;
  std::vector<StoredSegment> segments;
  std::vector<std::vector<std::int64_t>> register_ids;

  [[nodiscard]] tl::unexpected<Error> cannot_read(const Error& cause) const {
    return fail(cause, "cannot read " + path.string());
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
  Result<std::vector<LoadedSegment>> loaded = load_segments(*database);
  if (!loaded) {
    return fail(loaded.error(), "cannot read " + path.string());
  }
  const Result<std::string> mode = database->scalar_text("PRAGMA journal_mode");
  const bool in_use = mode && *mode == "wal";
  auto impl = std::unique_ptr<Impl>(
      new Impl{path, std::move(*database), std::move(*session), in_use, {}, {}});
  for (LoadedSegment& segment : *loaded) {
    impl->segments.push_back(std::move(segment.segment));
    impl->register_ids.push_back(std::move(segment.register_ids));
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
  std::optional<TimeSpan> span;
  for (const StoredSegment& segment : impl_->segments) {
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

Status SessionReader::for_each_block(
    const StoredSegment& segment, std::optional<TimeSpan> span,
    const std::function<Status(const sampler::SampleBlock&)>& visit) const {
  TickDecoder decoder(segment);
  // The visitor's own errors are passed on as they are.
  std::optional<Error> visitor_error;
  Status status = for_each_stored_block(
      impl_->database, segment, span, [&](const StoredBlock& stored) -> Status {
        const Result<BlockSummary> summary = decoder.summary(stored);
        if (!summary) {
          return tl::unexpected<Error>(summary.error());
        }
        const Result<sampler::SampleBlock*> block = decoder.ticks(stored, *summary);
        if (!block) {
          return tl::unexpected<Error>(block.error());
        }
        if (span) {
          trim(**block, *span);
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
