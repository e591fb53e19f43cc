#include "cli/import/session_sink.h"

#include <utility>

namespace gputrace::import {

Status StoreSink::begin(const store::SessionDescription& session,
                        const store::SegmentDescription& segment) {
  Result<store::SessionWriter> writer =
      store::SessionWriter::create(path_, store::OnExisting::kRefuse, session);
  if (!writer) {
    return tl::unexpected(writer.error());
  }
  writer_ = std::make_unique<store::SessionWriter>(std::move(*writer));
  return writer_->begin_segment(segment);
}

Status StoreSink::add_block(const sampler::SampleBlock& block) {
  if (const Status written = writer_->write_block(block); !written) {
    return written;
  }
  // A crash loses an import whole, so a sync a second would only cost time; ten minutes of blocks
  // keep the write-ahead log small.
  constexpr std::size_t kBlocksPerCommit = 600;
  if (++blocks_since_commit_ < kBlocksPerCommit) {
    return {};
  }
  blocks_since_commit_ = 0;
  return writer_->commit();
}

Status StoreSink::add_window_means(std::span<const store::WindowMean> means) {
  return writer_->write_window_means(means);
}

Status StoreSink::add_event(const store::Event& event) {
  return writer_->write_event(event);
}

Result<store::SessionWriter::DefinedSource> StoreSink::add_sensor_source(
    const store::SensorSource& source) {
  return writer_->define_sensor_source(source);
}

Status StoreSink::add_sensor_runs(std::span<const SeriesRun> runs) {
  for (const SeriesRun& run : runs) {
    if (const Status written = writer_->write_sensor_run(run.series, run.run); !written) {
      return written;
    }
  }
  return {};
}

Status StoreSink::set_sensor_totals(std::int64_t source, const store::SensorSourceTotals& totals) {
  return writer_->write_sensor_totals(source, totals);
}

Status StoreSink::add_frames(std::span<const store::Frame> frames) {
  return writer_->write_frames(frames);
}

Status StoreSink::add_client_usage(const store::ClientUsage& usage) {
  return writer_->write_client_usage(usage);
}

Status StoreSink::finish(std::int64_t end_ns) {
  store::SessionEnd end;
  end.end_ns = end_ns;
  const Result<store::SessionWriter::Finished> finished = writer_->finish(end);
  writer_.reset();
  if (!finished) {
    return tl::unexpected(finished.error());
  }
  return {};
}

}  // namespace gputrace::import
