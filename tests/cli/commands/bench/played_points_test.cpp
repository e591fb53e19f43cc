// Points of a bench on the simulated GPU, through a recorder: its file shows what was played.
#include <cmath>
#include <cstdint>
#include <string>

#include "cli/commands/bench/stimulus_json.h"
#include "cli/commands/record/gpu_sources.h"
#include "daemon/base/time.h"
#include "daemon/simulated_gpu/playback.h"
#include "regdb/register_database.h"
#include "tests/daemon/recorder/shared_rig.h"
#include "tests/support/error_text.h"

namespace gputrace::recorder {
namespace {

using simulated_gpu::Unit;

bench::Stimulus stream() {
  bench::Stimulus stimulus;
  stimulus.kernel = "stream";
  stimulus.threads = 8388608;
  stimulus.group_threads = 256;
  stimulus.flops = 64;
  stimulus.access = bench::Access::kStream;
  stimulus.read_bytes = 16;
  stimulus.written_bytes = 16;
  return stimulus;
}

bench::Stimulus arithmetic() {
  bench::Stimulus stimulus;
  stimulus.kernel = "arithmetic";
  stimulus.threads = 1048576;
  stimulus.group_threads = 256;
  stimulus.flops = 65536;
  return stimulus;
}

struct Interval {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

std::uint64_t ticks_of(const SharedRecorder& recorder) {
  return recorder.session("a").segments().at(0).totals.ticks;
}

void wait_for_ticks(const SharedRecorder& recorder, std::uint64_t count) {
  const std::uint64_t before = ticks_of(recorder);
  recorder.wait_until([&](const auto&) { return ticks_of(recorder) > before + count; });
}

std::int64_t send_point(const SessionClient& client, const bench::Stimulus& stimulus, bool begins) {
  const std::optional<std::string> text =
      begins ? std::optional(commands::stimulus_json(stimulus)) : std::nullopt;
  client.send(ipc::PointOrder{monotonic_now_ns(), stimulus.kernel, text});
  const auto time_ns = client.answer<ipc::PointAnswer>().time_ns;
  REQUIRE(time_ns.has_value());
  return *time_ns;
}

Interval play(const SharedRecorder& recorder, const SessionClient& client,
              const bench::Stimulus& stimulus) {
  const std::int64_t begin_ns = send_point(client, stimulus, true);
  wait_for_ticks(recorder, 1000);
  return {begin_ns, send_point(client, stimulus, false)};
}

struct BusyCount {
  double busy = 0;
  double samples = 0;
};

/// Of a busy bit of GRBM_STATUS, in the samples of the interval.
BusyCount count_busy(const store::SessionReader& session, const Interval& interval,
                     std::string_view field_name) {
  const store::StoredSegment& segment = session.segments().at(0);
  const auto map = regdb::RegisterDatabase::built_in().map_for(regdb::GcVersion{11, 0, 1}).value();
  const regdb::Register* reg = map.find("GRBM_STATUS");
  REQUIRE(reg != nullptr);
  const regdb::RegisterField* field = reg->find_field(field_name);
  REQUIRE(field != nullptr);
  BusyCount count;
  const Status read =
      session.for_each_block(segment, std::nullopt, [&](const sampler::SampleBlock& block) {
        for (std::size_t tick = 0; tick < block.size; ++tick) {
          if (block.time_ns[tick] >= interval.begin_ns && block.time_ns[tick] < interval.end_ns) {
            ++count.samples;
            count.busy += block.words_of(0)[tick] >> field->shift & 1U;
          }
        }
        return Status();
      });
  REQUIRE_MESSAGE(read.has_value(), test::error_text(read));
  return count;
}

/// The exact share of the time that the simulated GPU keeps a unit busy with it.
double true_share(const bench::Stimulus& stimulus, Unit unit) {
  auto simulation =
      simulated_gpu::Simulation::open("sim:780m:bench", regdb::RegisterDatabase::built_in(), {});
  REQUIRE_MESSAGE(simulation.has_value(), test::error_text(simulation));
  simulated_gpu::Playback playback(
      std::make_shared<const simulated_gpu::Simulation>(std::move(*simulation)));
  const auto kernel = playback.prepare(commands::stimulus_json(stimulus));
  REQUIRE_MESSAGE(kernel.has_value(), test::error_text(kernel));
  playback.begin(*kernel, 0);
  return static_cast<double>(playback.busy_ns(unit, 0, kNsPerSecond)) / kNsPerSecond;
}

TEST_CASE("the file of a recorder shows each point as busy as the model says, and idle between") {
  const SharedRecorder recorder(commands::make_reader_factory());
  const SessionClient client = recorder.attach();
  ipc::StartOrder order = recorder.order("a", 1000);
  order.gpu = "sim:780m:bench";
  order.purpose = ipc::Purpose::kBench;
  REQUIRE(client.start(order).simulated);
  wait_for_ticks(recorder, 50);
  const std::int64_t before_ns = monotonic_now_ns();
  const Interval streamed = play(recorder, client, stream());
  const std::int64_t between_ns = monotonic_now_ns();
  wait_for_ticks(recorder, 50);
  const std::int64_t until_ns = monotonic_now_ns();
  const Interval computed = play(recorder, client, arithmetic());
  CHECK_FALSE(client.stop().cut);

  const store::SessionReader session = recorder.session("a");
  REQUIRE(session.segments().size() == 1);
  const std::pair<const char*, Unit> bits[] = {
      {"GUI_ACTIVE", Unit::kGui}, {"TA_BUSY", Unit::kTa}, {"SPI_BUSY", Unit::kSpi}};
  for (const auto& [field, unit] : bits) {
    CAPTURE(field);
    for (const bool is_stream : {true, false}) {
      const BusyCount count = count_busy(session, is_stream ? streamed : computed, field);
      const double share = true_share(is_stream ? stream() : arithmetic(), unit);
      REQUIRE(count.samples > 500);
      // Five standard deviations of as many independent samples, and one that falls on an edge.
      const double spread = 5 * std::sqrt(share * (1 - share) / count.samples);
      CHECK(std::abs(count.busy / count.samples - share) <= spread + 2 / count.samples);
    }
    CHECK(count_busy(session, {0, before_ns}, field).samples > 40);
    CHECK(count_busy(session, {0, before_ns}, field).busy == 0);
    CHECK(count_busy(session, {between_ns, until_ns}, field).samples > 40);
    CHECK(count_busy(session, {between_ns, until_ns}, field).busy == 0);
  }
  CHECK(count_busy(session, streamed, "TA_BUSY").busy > 0);
  CHECK(count_busy(session, computed, "GUI_ACTIVE").busy > 0);
}

}  // namespace
}  // namespace gputrace::recorder
