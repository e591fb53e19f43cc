#include "daemon/store/session_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>
#include <utility>

#include "daemon/base/unique_fd.h"
#include "daemon/store/block_codec.h"
#include "daemon/store/busy_rows.h"
#include "daemon/store/database.h"
#include "daemon/store/segment_rows.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_kind.h"

namespace gputrace::store {

namespace {

// Small pages waste little beside blobs of some kilobytes (tests/bench/bench_store_size).
constexpr int kPageSize = 512;
constexpr int kCheckpointPages = 4096;
constexpr std::int64_t kFinishTimeoutNs = 2 * kNsPerSecond;
constexpr std::int64_t kFinishRetryNs = 20 * kNsPerMs;

Status create_empty_file(const std::filesystem::path& path, OnExisting on_existing) {
  if (on_existing == OnExisting::kReplace) {
    if (Status status = remove_session_file(path); !status) {
      return status;
    }
  }
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd) {
    return {};
  }
  const int error_number = errno;
  struct stat info{};
  if (error_number == EEXIST && ::lstat(path.c_str(), &info) == 0) {
    return fail(ErrorCode::kExists,
                S_ISREG(info.st_mode)
                    ? fmt::format("{} exists; --force replaces it", path.string())
                    : fmt::format("{} exists and is not a regular file", path.string()));
  }
  return fail_errno(error_number, "cannot create " + path.string());
}

Status insert_session(Database& database, const SessionDescription& description) {
  Result<Statement> insert = database.prepare(
      "INSERT INTO session (id, kind, label, origin, started_monotonic_ns, started_boottime_ns, "
      "started_realtime_ns) VALUES (1, ?, ?, ?, ?, ?, ?)");
  Result<Statement> word = database.prepare("INSERT INTO command_words (word) VALUES (?)");
  if (!insert || !word) {
    return tl::unexpected<Error>(insert ? word.error() : insert.error());
  }
  insert->bind(1, to_string(description.kind))
      .bind_optional(2, description.label)
      .bind(3, description.origin);
  if (description.started) {
    insert->bind(4, description.started->monotonic_ns)
        .bind(5, description.started->boottime_ns)
        .bind(6, description.started->realtime_ns);
  }
  if (Status status = insert->run(); !status) {
    return status;
  }
  for (const std::string& argument : description.command.value_or(std::vector<std::string>{})) {
    word->bind(1, argument);
    if (Status status = word->run(); !status) {
      return status;
    }
  }
  return {};
}

/// The header and the schema reach the main file before WAL begins, so that whoever finds a cut
/// file can tell from its first bytes that it is ours.
Status lay_out(Database& database, const SessionDescription& description) {
  const std::string setup = fmt::format(
      "PRAGMA page_size={}; PRAGMA auto_vacuum=NONE; PRAGMA synchronous=FULL; BEGIN IMMEDIATE; "
      "PRAGMA application_id={}; PRAGMA user_version={};",
      kPageSize, kApplicationId, kSchemaVersion);
  for (const std::string_view sql : {std::string_view(setup), schema_sql()}) {
    if (Status status = database.execute(sql); !status) {
      return status;
    }
  }
  if (Status status = insert_session(database, description); !status) {
    return status;
  }
  if (Status status = database.execute("COMMIT"); !status) {
    return status;
  }
  const Result<std::string> mode = database.scalar_text("PRAGMA journal_mode=WAL");
  if (!mode) {
    return tl::unexpected<Error>(mode.error());
  }
  if (*mode != "wal") {
    return fail(ErrorCode::kUnsupported,
                "this file system cannot hold a session being recorded (no shared memory for "
                "SQLite's write-ahead log); choose a local disk with -o");
  }
  return database.execute(fmt::format("PRAGMA wal_autocheckpoint={}", kCheckpointPages));
}

void sleep_ns(std::int64_t duration_ns) {
  const timespec duration{duration_ns / kNsPerSecond,
                          static_cast<long>(duration_ns % kNsPerSecond)};
  ::nanosleep(&duration, nullptr);
}

/// Parts of at most a second each; a part without ticks is left out unless it is the only one.
std::vector<BlockPart> split_block(const sampler::SampleBlock& block) {
  const std::int64_t last = block.size > 0 ? block.time_ns[block.size - 1] + 1 : block.start_ns;
  const BlockRow whole{block.start_ns, std::max(last, block.end_ns), block.missed,
                       block.dropped_ticks, block.size};
  const std::int64_t length = whole.end_ns - whole.start_ns;
  // One more period than a second may end up in a block of a second, because of rounding.
  if (block.size == 0 || (length <= kNsPerSecond + kCellNs && block.size <= kMaxBlockTicks)) {
    return {{whole, 0, block.size}};
  }
  std::vector<BlockPart> parts;
  std::size_t begin = 0;
  while (begin < block.size) {
    const std::int64_t second = (block.time_ns[begin] - whole.start_ns) / kNsPerSecond;
    BlockRow row;
    row.start_ns = whole.start_ns + second * kNsPerSecond;
    row.end_ns = row.start_ns + kNsPerSecond;
    std::size_t end = begin;
    while (end < block.size && block.time_ns[end] < row.end_ns && end - begin < kMaxBlockTicks) {
      ++end;
    }
    end = std::max(end, begin + 1);
    if (parts.empty()) {
      row.missed = whole.missed;
      row.dropped_ticks = whole.dropped_ticks;
    }
    parts.push_back({row, begin, end});
    begin = end;
  }
  parts.back().row.end_ns = std::min(parts.back().row.end_ns, whole.end_ns);
  return parts;
}

}  // namespace

struct SessionWriter::Impl {
  struct Segment {
    InsertedSegment rows;
    BlockEncoder encoder;
    BusyRows busy;
    std::int64_t end_ns;
    sampler::SamplingTotals totals;
    bool changed = false;
  };

  std::filesystem::path path;
  Database database;
  Statement insert_block;
  Statement insert_mean;
  Statement insert_anchor;
  Statement insert_event;
  std::optional<Segment> segment;
  /// Once a write has failed the transaction is gone, and with it rows that later ones need.
  std::optional<Error> failed;

  Status keep(Status status) {
    if (!status && !failed) {
      failed = fail(status.error(), "cannot write " + path.string()).value();
      if (database.in_transaction()) {
        static_cast<void>(database.execute("ROLLBACK"));
      }
      return tl::unexpected<Error>(*failed);
    }
    return status;
  }

  Status begin() {
    if (failed) {
      return tl::unexpected<Error>(*failed);
    }
    return database.in_transaction() ? Status{} : keep(database.execute("BEGIN IMMEDIATE"));
  }

  Status flush_segment() {
    if (!segment) {
      return {};
    }
    if (Status status = segment->busy.flush(); !status || !segment->changed) {
      return status;
    }
    segment->changed = false;
    return update_segment(database, segment->rows, segment->end_ns, segment->totals);
  }

  Status write_part(const sampler::SampleBlock& block, const BlockPart& part) {
    Result<EncodedBlock> encoded = segment->encoder.encode(block, part);
    if (!encoded) {
      return tl::unexpected<Error>(encoded.error());
    }
    const BlockRow& row = encoded->row;
    insert_block.bind(1, segment->rows.id)
        .bind(2, row.start_ns)
        .bind(3, row.end_ns)
        .bind(4, static_cast<std::int64_t>(row.ticks))
        .bind(5, std::int64_t{row.missed})
        .bind(6, std::int64_t{row.dropped_ticks})
        .bind_blob(7, encoded->summary_blob)
        .bind_blob(8, encoded->times_blob)
        .bind_blob(9, encoded->planes_blob);
    if (Status status = insert_block.run(); !status) {
      return status;
    }
    segment->end_ns = std::max(segment->end_ns, row.end_ns);
    return segment->busy.add(encoded->summary, encoded->counts);
  }
};

SessionWriter::SessionWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SessionWriter::SessionWriter(SessionWriter&&) noexcept = default;
SessionWriter& SessionWriter::operator=(SessionWriter&&) noexcept = default;
SessionWriter::~SessionWriter() = default;

const std::filesystem::path& SessionWriter::path() const {
  return impl_->path;
}

Result<SessionWriter> SessionWriter::create(const std::filesystem::path& path,
                                            OnExisting on_existing,
                                            const SessionDescription& description) {
  const Result<std::filesystem::path> file = without_symlinks_above(path);
  if (!file) {
    return tl::unexpected<Error>(file.error());
  }
  if (const Status status = create_empty_file(*file, on_existing); !status) {
    return tl::unexpected<Error>(status.error());
  }
  const std::string what = "cannot create " + path.string();
  const auto give_up = [&](const Error& error) {
    static_cast<void>(remove_session_file(*file));
    return fail(error, what);
  };
  Result<Database> database = Database::open(*file, Database::Mode::kReadWrite);
  if (!database) {
    return give_up(database.error());
  }
  if (const Status status = lay_out(*database, description); !status) {
    return give_up(status.error());
  }
  Result<Statement> block = database->prepare(
      "INSERT INTO blocks (segment, start_ns, end_ns, ticks, missed, dropped_ticks, summary, "
      "times, planes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Result<Statement> mean = database->prepare(
      "INSERT INTO window_means (register, bit, start_ns, end_ns, busy, samples) "
      "VALUES (?, ?, ?, ?, ?, ?)");
  Result<Statement> anchor = database->prepare(
      "INSERT OR REPLACE INTO anchors (monotonic_ns, boottime_ns, realtime_ns) VALUES (?, ?, ?)");
  Result<Statement> event =
      database->prepare("INSERT INTO events (time_ns, kind, text) VALUES (?, ?, ?)");
  for (const Result<Statement>* statement : {&block, &mean, &anchor, &event}) {
    if (!*statement) {
      return give_up(statement->error());
    }
  }
  return SessionWriter(std::unique_ptr<Impl>(
      new Impl{path, std::move(*database), std::move(*block), std::move(*mean), std::move(*anchor),
               std::move(*event), std::nullopt, std::nullopt}));
}

Status SessionWriter::begin_segment(const SegmentDescription& description) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  if (Status status = impl_->keep(impl_->flush_segment()); !status) {
    return status;
  }
  Result<InsertedSegment> rows = insert_segment(impl_->database, description);
  if (!rows) {
    return impl_->keep(tl::unexpected<Error>(rows.error()));
  }
  Result<BusyRows> busy = BusyRows::create(impl_->database, rows->register_ids, rows->units);
  if (!busy) {
    return impl_->keep(tl::unexpected<Error>(busy.error()));
  }
  BlockEncoder encoder(description.start_ns, description.rate_hz, description.registers.size());
  impl_->segment.emplace(Impl::Segment{
      std::move(*rows), std::move(encoder), std::move(*busy), description.start_ns, {}, false});
  return {};
}

Status SessionWriter::write_block(const sampler::SampleBlock& block) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  if (!impl_->segment || block.register_count != impl_->segment->rows.register_ids.size()) {
    return fail(ErrorCode::kInvalidArgument, "a block came without a segment of as many registers");
  }
  for (const BlockPart& part : split_block(block)) {
    if (Status status = impl_->keep(impl_->write_part(block, part)); !status) {
      return status;
    }
  }
  impl_->segment->totals = block.totals;
  impl_->segment->changed = true;
  return {};
}

Status SessionWriter::write_window_means(std::span<const WindowMean> means) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  for (const WindowMean& mean : means) {
    if (!impl_->segment || mean.register_index >= impl_->segment->rows.register_ids.size()) {
      return fail(ErrorCode::kInvalidArgument, "a window mean came without its segment");
    }
    impl_->insert_mean.bind(1, impl_->segment->rows.register_ids[mean.register_index])
        .bind(2, std::int64_t{mean.bit})
        .bind(3, mean.start_ns)
        .bind(4, mean.end_ns)
        .bind(5, mean.busy)
        .bind_optional(6, mean.samples);
    if (Status status = impl_->keep(impl_->insert_mean.run()); !status) {
      return status;
    }
    impl_->segment->end_ns = std::max(impl_->segment->end_ns, mean.end_ns);
    impl_->segment->changed = true;
  }
  return {};
}

Status SessionWriter::write_anchor(const TimeAnchor& anchor) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  impl_->insert_anchor.bind(1, anchor.monotonic_ns)
      .bind(2, anchor.boottime_ns)
      .bind(3, anchor.realtime_ns);
  return impl_->keep(impl_->insert_anchor.run());
}

Status SessionWriter::write_event(const Event& event) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  impl_->insert_event.bind(1, event.time_ns).bind(2, event.kind).bind(3, event.text);
  return impl_->keep(impl_->insert_event.run());
}

Status SessionWriter::commit() {
  if (impl_->failed) {
    return tl::unexpected<Error>(*impl_->failed);
  }
  if (!impl_->database.in_transaction()) {
    return {};
  }
  if (Status status = impl_->keep(impl_->flush_segment()); !status) {
    return status;
  }
  return impl_->keep(impl_->database.execute("COMMIT"));
}

Result<SessionWriter::Finished> SessionWriter::finish(const SessionEnd& end) {
  Status status = commit();
  Result<Statement> update =
      impl_->database.prepare("UPDATE session SET end_ns = ?, exit_code = ?, signal = ?");
  if (status && !update) {
    status = tl::unexpected<Error>(update.error());
  }
  if (status) {
    update->bind(1, end.end_ns).bind_optional(2, end.exit_code).bind_optional(3, end.signal);
    status = update->run();
  }
  // Even when the end could not be written, what was committed should stand in one file.
  static_cast<void>(impl_->database.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  const std::int64_t deadline_ns = monotonic_now_ns() + kFinishTimeoutNs;
  Result<std::string> mode = impl_->database.scalar_text("PRAGMA journal_mode=DELETE");
  while (!mode && mode.error().code == ErrorCode::kBusy && monotonic_now_ns() < deadline_ns) {
    sleep_ns(kFinishRetryNs);
    mode = impl_->database.scalar_text("PRAGMA journal_mode=DELETE");
  }
  if (status && !mode && mode.error().code != ErrorCode::kBusy) {
    status = tl::unexpected<Error>(mode.error());
  }
  impl_->failed = Error{ErrorCode::kInvalidArgument, impl_->path.string() + " is finished"};
  if (!status) {
    return fail(status.error(), "cannot finish " + impl_->path.string());
  }
  return Finished{.still_wal = !mode || *mode != "delete"};
}

}  // namespace gputrace::store
