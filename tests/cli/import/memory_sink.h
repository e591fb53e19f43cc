// A session in memory, for tests of the importers. Aborts when an importer breaks a rule of the
// session format, so that the fuzzers find that too.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/import/import.h"
#include "cli/import/line_reader.h"
#include "cli/import/session_sink.h"
#include "daemon/base/result.h"

namespace gputrace::test {

struct MemorySample {
  std::int64_t time_ns = 0;
  std::vector<std::uint32_t> words;
  std::vector<sampler::SampleState> states;
};

class MemorySink final : public import::SessionSink {
 public:
  Status begin(const store::SessionDescription& new_session,
               const store::SegmentDescription& new_segment) override {
    GPUTRACE_CHECK(!session);
    GPUTRACE_CHECK(new_segment.registers.size() <= sampler::kMaxRegisters);
    session = new_session;
    segment = new_segment;
    return {};
  }
  Status add_block(const sampler::SampleBlock& block) override {
    GPUTRACE_CHECK(session && !end_ns);
    GPUTRACE_CHECK(block.size > 0 && block.size <= block.capacity);
    GPUTRACE_CHECK(block.register_count == segment.registers.size());
    GPUTRACE_CHECK(block.start_ns < block.end_ns);
    GPUTRACE_CHECK(blocks.empty() || block.start_ns >= blocks.back().end_ns);
    for (std::size_t tick = 0; tick < block.size; ++tick) {
      MemorySample sample{.time_ns = block.time_ns[tick], .words = {}, .states = {}};
      GPUTRACE_CHECK(samples.empty() || sample.time_ns > samples.back().time_ns);
      GPUTRACE_CHECK(sample.time_ns >= block.start_ns && sample.time_ns < block.end_ns);
      for (std::size_t reg = 0; reg < block.register_count; ++reg) {
        sample.words.push_back(block.words_of(reg)[tick]);
        sample.states.push_back(block.states_of(reg)[tick]);
      }
      samples.push_back(std::move(sample));
    }
    GPUTRACE_CHECK(block.totals.ticks == samples.size());
    blocks.push_back({block.start_ns, block.end_ns});
    return {};
  }
  Status add_window_means(std::span<const store::WindowMean> more) override {
    GPUTRACE_CHECK(session && !end_ns);
    for (const store::WindowMean& mean : more) {
      GPUTRACE_CHECK(mean.busy >= 0 && mean.busy <= 1);
      GPUTRACE_CHECK(mean.start_ns < mean.end_ns);
      GPUTRACE_CHECK(mean.register_index < segment.registers.size());
      GPUTRACE_CHECK(mean.bit < 32);
    }
    means.insert(means.end(), more.begin(), more.end());
    return {};
  }
  Status add_event(const store::Event& event) override {
    GPUTRACE_CHECK(session && !end_ns);
    events.push_back(event);
    return {};
  }
  Result<store::SessionWriter::DefinedSource> add_sensor_source(
      const store::SensorSource& source) override {
    GPUTRACE_CHECK(session && !end_ns);
    store::SessionWriter::DefinedSource defined;
    defined.id = static_cast<std::int64_t>(sources.size());
    for (const sampler::SensorDescription& sensor : source.sensors) {
      GPUTRACE_CHECK(!sensor.name.empty() && sensor.name.size() < 1000);
      defined.series.push_back(static_cast<std::int64_t>(series.size()));
      series.push_back({sensor, {}});
    }
    sources.push_back({source, std::nullopt});
    return defined;
  }
  Status add_sensor_runs(std::span<const import::SeriesRun> runs) override {
    GPUTRACE_CHECK(session && !end_ns);
    for (const auto& [id, run] : runs) {
      std::vector<store::SensorRun>& before = series.at(static_cast<std::size_t>(id)).runs;
      GPUTRACE_CHECK(run.start_ns >= (before.empty() ? 0 : before.back().end_ns));
      GPUTRACE_CHECK(run.end_ns >= run.start_ns && run.readings > 0);
      GPUTRACE_CHECK(std::isfinite(run.value));
      before.push_back(run);
    }
    return {};
  }
  Status set_sensor_totals(std::int64_t source, const store::SensorSourceTotals& totals) override {
    GPUTRACE_CHECK(session && !end_ns);
    GPUTRACE_CHECK(std::isfinite(totals.rate_hz));
    sources.at(static_cast<std::size_t>(source)).totals = totals;
    return {};
  }
  Status add_frames(std::span<const store::Frame> more) override {
    GPUTRACE_CHECK(session && !end_ns);
    for (const store::Frame& frame : more) {
      GPUTRACE_CHECK(frame.end_ns >= (frames.empty() ? 0 : frames.back().end_ns));
      GPUTRACE_CHECK(frame.duration_ns >= 0);
      frames.push_back(frame);
    }
    return {};
  }
  Status add_client_usage(const store::ClientUsage& more) override {
    GPUTRACE_CHECK(session && !end_ns);
    GPUTRACE_CHECK(more.time_ns >= (usage.empty() ? 0 : usage.back().time_ns));
    GPUTRACE_CHECK(more.process.size() <= 256 && more.pdev.size() <= 256);
    usage.push_back(more);
    return {};
  }
  Status finish(std::int64_t end) override {
    GPUTRACE_CHECK(session && !end_ns);
    GPUTRACE_CHECK(samples.empty() || end > samples.back().time_ns);
    end_ns = end;
    return {};
  }

  struct BlockSpan {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  std::optional<store::SessionDescription> session;
  store::SegmentDescription segment;
  std::vector<BlockSpan> blocks;
  std::vector<MemorySample> samples;
  std::vector<store::WindowMean> means;
  std::vector<store::Event> events;
  struct Source {
    store::SensorSource source;
    std::optional<store::SensorSourceTotals> totals;
  };
  std::vector<Source> sources;
  struct Series {
    sampler::SensorDescription sensor;
    std::vector<store::SensorRun> runs;
  };
  std::vector<Series> series;
  std::vector<store::Frame> frames;
  std::vector<store::ClientUsage> usage;
  std::optional<std::int64_t> end_ns;
};

/// Imports `text` as if it were the file `name`.
inline Result<import::ImportSummary> import_text(std::string_view text, MemorySink& sink,
                                                 const import::ImportOptions& options = {},
                                                 const std::string& name = "trace") {
  import::LineReader lines(import::read_memory(text), name);
  return import::import_session(lines, regdb::RegisterDatabase::built_in(), options, sink);
}

}  // namespace gputrace::test
