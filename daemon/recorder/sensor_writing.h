// Writes what the slow loop brings into a session's file: readings that follow each other and are
// equal become one run, cut at each second of CLOCK_MONOTONIC and at each commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/recorder/session_feed.h"
#include "daemon/sampler/sensor_loop.h"
#include "daemon/store/session.h"
#include "daemon/store/session_writer.h"

namespace gputrace::recorder {

class SensorWriting {
 public:
  /// Defines sources that the file does not have. Those that it has go on, also after another loop
  /// has taken over: a GPU came back.
  Status take(const SensorBatch& batch, store::SessionWriter& writer);
  /// What is in hand, and the totals of each source. Before each commit.
  Status write_open(store::SessionWriter& writer);

 private:
  struct Series {
    std::int64_t id = 0;
    std::optional<store::SensorRun> run;  ///< in hand
  };
  struct Source {
    store::SensorSource description;
    std::int64_t id = 0;
    std::vector<Series> series;
    store::SensorSourceTotals totals;  ///< up to the batch before
    store::SensorSourceTotals written;
    bool is_written = false;
    sampler::SensorSourceState last;  ///< of the loop in use
    std::int64_t last_ns = 0;         ///< of the reading before
  };

  Status begin_loop(const SensorBatch& batch, store::SessionWriter& writer);
  /// Not one of `taken`: two sources of a loop may look alike.
  Result<std::size_t> find_or_define(const store::SensorSource& source,
                                     const std::vector<std::size_t>& taken,
                                     store::SessionWriter& writer);
  static Status count(Source& source, const sampler::SensorSourceState& state,
                      store::SessionWriter& writer);
  static Status take(Source& source, const sampler::SensorReading& reading,
                     store::SessionWriter& writer);
  static Status end_run(Series& series, store::SessionWriter& writer);
  static Status end_runs(Source& source, store::SessionWriter& writer);

  std::vector<Source> sources_;  ///< of the file
  std::shared_ptr<const SharedSensorSources> loop_;
  std::vector<std::size_t> of_loop_;  ///< loop's source -> index in sources_
};

}  // namespace gputrace::recorder
