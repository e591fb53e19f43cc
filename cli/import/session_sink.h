// Where an importer puts what it understood: a session file, or a test's memory.
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "daemon/base/result.h"
#include "daemon/store/session.h"
#include "daemon/store/session_writer.h"

namespace gputrace::import {

struct SeriesRun {
  std::int64_t series = 0;
  store::SensorRun run;
};

class SessionSink {
 public:
  SessionSink() = default;
  SessionSink(const SessionSink&) = delete;
  SessionSink& operator=(const SessionSink&) = delete;
  virtual ~SessionSink() = default;

  /// Once, before everything else: an importer knows both only when it has read its first sample.
  virtual Status begin(const store::SessionDescription& session,
                       const store::SegmentDescription& segment) = 0;
  virtual Status add_block(const sampler::SampleBlock& block) = 0;
  virtual Status add_window_means(std::span<const store::WindowMean> means) = 0;
  virtual Status add_event(const store::Event& event) = 0;
  /// Before its first run. Returns the ids of its series.
  virtual Result<store::SessionWriter::DefinedSource> add_sensor_source(
      const store::SensorSource& source) = 0;
  /// In order of time for each series.
  virtual Status add_sensor_runs(std::span<const SeriesRun> runs) = 0;
  virtual Status set_sensor_totals(std::int64_t source,
                                   const store::SensorSourceTotals& totals) = 0;
  /// In order of time.
  virtual Status add_frames(std::span<const store::Frame> frames) = 0;
  virtual Status add_client_usage(const store::ClientUsage& usage) = 0;
  /// Once, at the end of an import that succeeded.
  virtual Status finish(std::int64_t end_ns) = 0;
};

/// Writes a session file. It is created by begin(); after a failure the caller removes it.
class StoreSink final : public SessionSink {
 public:
  explicit StoreSink(std::filesystem::path path) : path_(std::move(path)) {}

  Status begin(const store::SessionDescription& session,
               const store::SegmentDescription& segment) override;
  Status add_block(const sampler::SampleBlock& block) override;
  Status add_window_means(std::span<const store::WindowMean> means) override;
  Status add_event(const store::Event& event) override;
  Result<store::SessionWriter::DefinedSource> add_sensor_source(
      const store::SensorSource& source) override;
  Status add_sensor_runs(std::span<const SeriesRun> runs) override;
  Status set_sensor_totals(std::int64_t source, const store::SensorSourceTotals& totals) override;
  Status add_frames(std::span<const store::Frame> frames) override;
  Status add_client_usage(const store::ClientUsage& usage) override;
  Status finish(std::int64_t end_ns) override;

 private:
  std::filesystem::path path_;
  std::unique_ptr<store::SessionWriter> writer_;
  std::size_t blocks_since_commit_ = 0;
};

}  // namespace gputrace::import
