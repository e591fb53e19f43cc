// A whole session file of any bytes: opened (which finishes it when it says that it was cut), read
// to the end in every way there is, and asked with SQL.
#include "daemon/store/session_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

#include "daemon/base/unique_fd.h"
#include "daemon/store/query.h"
#include "daemon/store/session_reader.h"
#include "tests/support/temp_dir.h"

namespace gputrace::test {
namespace {

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  GPUTRACE_CHECK(fd);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    GPUTRACE_CHECK(written > 0);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::uint64_t sum(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

void read_segment(const store::SessionReader& reader, const store::StoredSegment& segment) {
  std::uint64_t ticks = 0;
  const Status read = reader.for_each_block(segment, std::nullopt,
                                            [&](const sampler::SampleBlock& block) -> Status {
                                              ticks += block.size;
                                              return {};
                                            });
  GPUTRACE_CHECK(read || !read.error().message.empty());
  const auto states = reader.state_counts(segment, std::nullopt);
  std::vector<store::BitRef> bits;
  for (std::size_t r = 0; r < segment.description.registers.size(); ++r) {
    bits.push_back({r, 0});
    bits.push_back({r, 31});
  }
  const auto counts = reader.counts(segment, bits, std::nullopt);
  if (counts) {
    for (const store::BitCells& bit : counts->bits) {
      const std::uint64_t valid = sum(counts->registers[bit.register_index].valid);
      GPUTRACE_CHECK(sum(bit.busy) <= valid && sum(bit.changes) <= valid);
    }
  }
  if (read && states) {
    for (const auto& reg : *states) {
      GPUTRACE_CHECK(std::accumulate(reg.by_state.begin(), reg.by_state.end(), std::uint64_t{0}) ==
                     ticks);
    }
  }
  if (const auto whole = reader.span()) {
    const store::TimeSpan part{whole->start_ns + (whole->end_ns - whole->start_ns) / 3,
                               whole->start_ns + (whole->end_ns - whole->start_ns) / 2};
    const auto some = reader.counts(segment, bits, part);
    GPUTRACE_CHECK(some || !some.error().message.empty());
    const auto part_states = reader.state_counts(segment, part);
    GPUTRACE_CHECK(part_states || !part_states.error().message.empty());
  }
  const auto means = reader.window_means(segment);
  GPUTRACE_CHECK(means || !means.error().message.empty());
}

void read_sensors(const store::SessionReader& reader) {
  const auto sources = reader.sensor_sources();
  GPUTRACE_CHECK(sources.has_value());
  std::uint64_t readings = 0;
  const auto add = [&](std::int64_t, const store::SensorRun& run) {
    GPUTRACE_CHECK(run.start_ns >= 0 && run.end_ns >= run.start_ns && run.readings > 0 &&
                   std::isfinite(run.value));
    readings += run.readings;
    return Status{};
  };
  const Status all = reader.for_each_sensor_run(std::nullopt, add);
  GPUTRACE_CHECK(all || !all.error().message.empty());
  const std::uint64_t all_readings = std::exchange(readings, 0);
  if (const auto whole = reader.span()) {
    const store::TimeSpan part{whole->start_ns + (whole->end_ns - whole->start_ns) / 3,
                               whole->start_ns + (whole->end_ns - whole->start_ns) / 2};
    const Status some = reader.for_each_sensor_run(part, add);
    GPUTRACE_CHECK(some.has_value() == all.has_value() && (!all || readings <= all_readings));
    const auto frames = reader.frames(part);
    GPUTRACE_CHECK(frames || !frames.error().message.empty());
  }
  for (const store::StoredSensorSource& source : *sources) {
    GPUTRACE_CHECK(source.series.size() == source.source.sensors.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(source.series.size(), 10); ++i) {
      const auto runs = reader.sensor_runs(source.series[i], std::nullopt);
      GPUTRACE_CHECK(runs.has_value() || !all);
    }
  }
  std::int64_t last_ns = 0;
  const Status usage = reader.for_each_client_usage([&](const store::ClientUsage& client) {
    GPUTRACE_CHECK(client.time_ns >= last_ns);
    last_ns = client.time_ns;
    return Status{};
  });
  GPUTRACE_CHECK(usage || !usage.error().message.empty());
}

void read_all(const std::filesystem::path& path) {
  const Result<store::SessionReader> reader = store::SessionReader::open(path);
  if (!reader) {
    GPUTRACE_CHECK(!reader.error().message.empty());
    return;
  }
  for (const store::StoredSegment& segment : reader->segments()) {
    read_segment(*reader, segment);
  }
  const auto anchors = reader->anchors();
  const auto events = reader->events();
  GPUTRACE_CHECK((anchors || !anchors.error().message.empty()) &&
                 (events || !events.error().message.empty()));
  read_sensors(*reader);
  const auto results = reader->results();
  GPUTRACE_CHECK(results || !results.error().message.empty());
  const store::QueryVisitor visitor{
      [](std::span<const std::string>) {},
      [](std::span<const store::QueryValue>) -> Status { return {}; }};
  for (const std::string_view sql :
       {"SELECT * FROM busy", "SELECT * FROM sensor_values", "SELECT * FROM bench"}) {
    const Status query = store::query_session(path, sql, {.time_ns = kNsPerSecond}, visitor);
    GPUTRACE_CHECK(query || !query.error().message.empty());
  }
}

}  // namespace
}  // namespace gputrace::test

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gputrace::test::TempDir kFolder;
  const auto path = kFolder.path() / "fuzz.gputrace";
  gputrace::test::write_file(path, {reinterpret_cast<const char*>(data), size});
  gputrace::test::read_all(path);
  GPUTRACE_CHECK(gputrace::store::remove_session_file(path).has_value());
  return 0;
}
