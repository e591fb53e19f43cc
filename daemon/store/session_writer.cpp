#include "daemon/store/session_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include "daemon/store/block_codec.h"
#include "daemon/store/busy_rows.h"
#include "daemon/store/client_rows.h"
#include "daemon/store/database.h"
#include "daemon/store/segment_rows.h"
#include "daemon/store/sensor_rows.h"
#include "daemon/store/session_file.h"
#include "daemon/store/session_layout.h"

namespace gputrace::store {

namespace {

constexpr std::int64_t kFinishTimeoutNs = 2 * kNsPerSecond;
constexpr std::int64_t kFinishRetryNs = 20 * kNsPerMs;

void sleep_ns(std::int64_t duration_ns) {
  const timespec duration{duration_ns / kNsPerSecond,
                          static_cast<long>(duration_ns % kNsPerSecond)};
  ::nanosleep(&duration, nullptr);
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
  Statement insert_frame;
  SensorRows sensors;
  ClientRows clients;
  /// Every member of the group may read it: no names of processes.
  bool for_group = false;
  std::int64_t last_frame_ns = 0;
  std::unique_ptr<Segment> segment;
  /// Once a write has failed the transaction is gone, and with it rows that later ones need.
  std::optional<Error> failed;

  Status keep(Status status) {
    if (!status && !failed) {
      failed = fail(status.error(), "cannot write " + path.string()).value();
      if (database.in_transaction()) {
        [[maybe_unused]] const Status undone = database.execute("ROLLBACK");
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
  // Day files of the monitoring hold no names of processes: every member of the group may see them.
  const Readers readers =
      description.kind == SessionKind::kBackground ? Readers::kGroup : Readers::kOwner;
  if (const Status status = create_empty_file(*file, on_existing, readers); !status) {
    return tl::unexpected<Error>(status.error());
  }
  const std::string what = "cannot create " + path.string();
  const auto give_up = [&](const Error& error) {
    [[maybe_unused]] const Status removed = remove_session_file(*file);
    return fail(error, what);
  };
  Result<Database> database = Database::open(*file, Database::Mode::kReadWrite);
  if (!database) {
    return give_up(database.error());
  }
  if (const Status status = lay_out_session(*database, description); !status) {
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
  Result<Statement> frame =
      database->prepare("INSERT INTO frames (end_ns, duration_ns) VALUES (?, ?)");
  for (const Result<Statement>* statement : {&block, &mean, &anchor, &event, &frame}) {
    if (!*statement) {
      return give_up(statement->error());
    }
  }
  Result<SensorRows> sensors = SensorRows::create(*database);
  Result<ClientRows> clients = ClientRows::create(*database);
  if (!sensors || !clients) {
    return give_up(sensors ? clients.error() : sensors.error());
  }
  return SessionWriter(std::unique_ptr<Impl>(new Impl{.path = path,
                                                      .database = std::move(*database),
                                                      .insert_block = std::move(*block),
                                                      .insert_mean = std::move(*mean),
                                                      .insert_anchor = std::move(*anchor),
                                                      .insert_event = std::move(*event),
                                                      .insert_frame = std::move(*frame),
                                                      .sensors = std::move(*sensors),
                                                      .clients = std::move(*clients),
                                                      .for_group = readers == Readers::kGroup,
                                                      .segment = nullptr,
                                                      .failed = std::nullopt}));
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
  Result<BusyRows> busy = BusyRows::create(impl_->database, rows->registers);
  if (!busy) {
    return impl_->keep(tl::unexpected<Error>(busy.error()));
  }
  BlockEncoder encoder(description.start_ns, description.rate_hz, description.registers.size());
  impl_->segment = std::make_unique<Impl::Segment>(Impl::Segment{
      std::move(*rows), std::move(encoder), std::move(*busy), description.start_ns, {}, false});
  return {};
}

Status SessionWriter::write_block(const sampler::SampleBlock& block) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  if (!impl_->segment || block.register_count != impl_->segment->rows.registers.size()) {
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
    if (!impl_->segment || mean.register_index >= impl_->segment->rows.registers.size()) {
      return fail(ErrorCode::kInvalidArgument, "a window mean came without its segment");
    }
    impl_->insert_mean.bind(1, impl_->segment->rows.registers[mean.register_index].id)
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

Result<SessionWriter::DefinedSource> SessionWriter::define_sensor_source(
    const SensorSource& source) {
  Status status = impl_->begin();
  status = status ? SensorRows::check(source) : status;
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  Result<DefinedSource> defined = impl_->sensors.define(source);
  if (!defined) {
    status = impl_->keep(tl::unexpected<Error>(defined.error()));
    return tl::unexpected<Error>(status.error());
  }
  return defined;
}

Status SessionWriter::write_sensor_run(std::int64_t series, const SensorRun& run) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  Status status = impl_->sensors.check(series, run);
  return status ? impl_->keep(impl_->sensors.add(series, run)) : status;
}

Status SessionWriter::write_sensor_totals(std::int64_t source, const SensorSourceTotals& totals) {
  Status status = impl_->begin();
  return status ? impl_->keep(impl_->sensors.set_totals(source, totals)) : status;
}

Status SessionWriter::write_client_usage(const ClientUsage& usage) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  if (impl_->for_group) {
    return fail(ErrorCode::kInvalidArgument, "a file for the whole group names no processes");
  }
  Status status = impl_->clients.check(usage);
  return status ? impl_->keep(impl_->clients.add(usage)) : status;
}

Status SessionWriter::write_frames(std::span<const Frame> frames) {
  if (Status status = impl_->begin(); !status) {
    return status;
  }
  for (const Frame& frame : frames) {
    if (frame.end_ns < impl_->last_frame_ns || frame.duration_ns < 0) {
      return fail(ErrorCode::kInvalidArgument, "the times of frames run backwards");
    }
    impl_->insert_frame.bind(1, frame.end_ns).bind(2, frame.duration_ns);
    if (Status status = impl_->keep(impl_->insert_frame.run()); !status) {
      return status;
    }
    impl_->last_frame_ns = frame.end_ns;
  }
  return {};
}

Status SessionWriter::commit() {
  if (const std::optional<Error>& failed = impl_->failed) {
    return tl::unexpected<Error>(*failed);
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
  [[maybe_unused]] const Status checkpointed =
      impl_->database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
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
