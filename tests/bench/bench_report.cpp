// What phases cost a report: an hour and a day at 1 kHz of the units of an APU with its sensors,
// from made session files. CPU time and memory of the phases beside those of the whole report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "cli/commands/report/report_phases.h"
#include "cli/commands/report/report_units.h"
#include "daemon/store/session_reader.h"
#include "daemon/store/session_writer.h"
#include "regdb/register_database.h"
#include "tests/support/make_session.h"
#include "tests/support/temp_dir.h"

namespace gputrace {
namespace {

const std::vector<std::string> kRegisters{"GRBM_STATUS",     "GRBM_STATUS2",    "GRBM_STATUS3",
                                          "GRBM_STATUS_SE0", "GRBM_STATUS_SE1", "GRBM_STATUS_SE2",
                                          "GRBM_STATUS_SE3"};
constexpr std::size_t kKinds = 5;
/// Words of a kind of load repeat after so many seconds.
constexpr std::size_t kMadeSeconds = 30;
constexpr std::size_t kRate = 1000;

/// Words of one kind of load: [tick * registers + register].
std::vector<std::uint32_t> make_words(std::size_t kind) {
  std::mt19937_64 random(kind + 1);
  const auto uniform = [&random] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  const auto map = regdb::RegisterDatabase::built_in().map_for_table("11.0.0");
  GPUTRACE_CHECK(map.has_value());
  std::vector<std::uint32_t> words(kMadeSeconds * kRate * kRegisters.size());
  for (std::size_t r = 0; r < kRegisters.size(); ++r) {
    for (const regdb::RegisterField& field : map->find(kRegisters[r])->fields) {
      const double duty = field.name == "GUI_ACTIVE" ? 0.97 : 0.1 + 0.88 * uniform();
      const double keep = std::exp(-1.0 / (1 + 3 * uniform()));
      bool busy = uniform() < duty;
      for (std::size_t tick = 0; tick < kMadeSeconds * kRate; ++tick) {
        if (uniform() > keep) {
          busy = uniform() < duty;
        }
        words[tick * kRegisters.size() + r] |= busy ? field.mask() : 0U;
      }
    }
  }
  return words;
}

sampler::SensorDescription sensor(std::string name, std::string unit, sampler::SensorKind kind) {
  sampler::SensorDescription described;
  described.name = std::move(name);
  described.source = "hwmon " + described.name;
  described.unit = std::move(unit);
  described.kind = kind;
  return described;
}

/// Ten gauges and two counters at 10 Hz, no two readings equal.
void write_sensors(store::SessionWriter& writer, const test::SessionRecipe& recipe) {
  store::SensorSource gpu{"hwmon", "", {}};
  for (int i = 0; i < 8; ++i) {
    gpu.sensors.push_back(
        sensor(fmt::format("temperature_{}", i), "C", sampler::SensorKind::kGauge));
  }
  gpu.sensors.push_back(sensor("package_power", "W", sampler::SensorKind::kGauge));
  gpu.sensors.push_back(sensor("gfx_clock", "MHz", sampler::SensorKind::kGauge));
  store::SensorSource machine{"pmu amd_umc", std::nullopt, {}};
  machine.sensors.push_back(sensor("dram_read", "bytes", sampler::SensorKind::kCounter));
  machine.sensors.push_back(sensor("dram_write", "bytes", sampler::SensorKind::kCounter));
  for (const store::SensorSource& source : {gpu, machine}) {
    const auto defined = writer.define_sensor_source(source);
    GPUTRACE_CHECK(defined.has_value());
    for (const std::int64_t series : defined->series) {
      const auto readings = static_cast<int>(recipe.seconds * 10);
      for (int i = 0; i < readings; ++i) {
        const std::int64_t at = recipe.start_ns + i * 100 * kNsPerMs;
        const double value = source.gpu_pci ? 40 + i % 7 + i % 11 : 4e9 * (i + i % 3);
        GPUTRACE_CHECK(writer.write_sensor_run(series, {at, at, 1, value}).has_value());
      }
    }
  }
}

void write_session(const std::filesystem::path& path, const test::SessionRecipe& recipe) {
  std::vector<std::vector<std::uint32_t>> kinds;
  kinds.reserve(kKinds);
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    kinds.push_back(make_words(kind));
  }
  store::SessionDescription description;
  description.started = TimeAnchor{recipe.start_ns, recipe.start_ns, recipe.start_realtime_ns};
  auto writer = store::SessionWriter::create(path, store::OnExisting::kReplace, description);
  GPUTRACE_CHECK(writer.has_value());
  GPUTRACE_CHECK(writer->begin_segment(test::segment_of(recipe)).has_value());
  std::mt19937_64 random(1);
  std::size_t kind = 0;
  std::size_t left = 0;  // seconds of this load
  for (std::size_t second = 0; second < static_cast<std::size_t>(recipe.seconds); ++second) {
    if (left == 0) {
      left = 10 + random() % 110;
      kind = (kind + 1 + random() % (kKinds - 1)) % kKinds;
    }
    --left;
    sampler::SampleBlock block = test::block_of(recipe, second * kRate, (second + 1) * kRate);
    const std::size_t from = second % kMadeSeconds * kRate;
    for (std::size_t i = 0; i < block.size; ++i) {
      for (std::size_t r = 0; r < kRegisters.size(); ++r) {
        block.words[r * block.capacity + i] = kinds[kind][(from + i) * kRegisters.size() + r];
      }
    }
    GPUTRACE_CHECK(writer->write_block(block).has_value());
    if (second % 600 == 599) {
      GPUTRACE_CHECK(writer->commit().has_value());
    }
  }
  write_sensors(*writer, recipe);
  const std::int64_t end_ns =
      recipe.start_ns + static_cast<std::int64_t>(recipe.seconds) * kNsPerSecond;
  GPUTRACE_CHECK(writer->finish({end_ns, 0, std::nullopt}).has_value());
}

/// A line of /proc/self/status, in MB.
double status_mb(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) {
      return std::stod(line.substr(key.size() + 1)) / 1024;
    }
  }
  return 0;
}

struct Cost {
  double cpu_s = 0;
  double peak_mb = 0;  ///< above what was there before
};
template <class Work>
Cost measure(const Work& work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const double before_mb = status_mb("VmRSS");
  const std::int64_t before_ns = process_cpu_time_ns();
  work();
  return {static_cast<double>(process_cpu_time_ns() - before_ns) * 1e-9,
          status_mb("VmHWM") - before_mb};
}

void print(const std::string& name, const std::filesystem::path& path,
           const commands::ReportOptions& options) {
  const auto session = store::SessionReader::open(path);
  GPUTRACE_CHECK(session.has_value());
  const auto regdb = regdb::RegisterDatabase::built_in();
  report::Report report;
  const Cost whole = measure([&] {
    auto built = commands::build_report(*session, path, regdb, options);
    GPUTRACE_CHECK(built.has_value());
    report = std::move(*built);
  });
  const std::size_t phases = report.phases.size();
  report.phases.clear();
  report.timeline.reset();
  const store::StoredSegment& segment = session->segments().front();
  const auto map = regdb.map_for_table(segment.description.regdb_table);
  GPUTRACE_CHECK(map.has_value());
  const std::int64_t start_ns = segment.description.start_ns;
  const commands::Timeline timeline =
      commands::make_timeline(start_ns, segment.end_ns, options.band_columns, false);
  const auto sensors = commands::SensorSet::load(*session, timeline, "");
  GPUTRACE_CHECK(sensors.has_value());
  commands::GpuRecording recording{&*session, {&segment}, *map, timeline, start_ns};
  recording.counted = commands::count_along(recording);
  commands::UnitCollector units(timeline);
  units.on_counts([&recording](const auto& of, const auto refs, const auto& counts) {
    commands::add_counted(of, refs, counts, *recording.counted);
  });
  GPUTRACE_CHECK(units.add(*session, segment, *map).has_value());
  const Cost added = measure([&] {
    GPUTRACE_CHECK(commands::add_phases(recording, *sensors, options, report).has_value());
  });
  fmt::print("{:<26} {:>4} phases: {:.2f} s CPU and {:.0f} MB for them; whole report {:.2f} s\n",
             name, phases, added.cpu_s, std::max(0.0, added.peak_mb), whole.cpu_s);
}

}  // namespace
}  // namespace gputrace

/// Usage: bench_report [HOURS]...
///        bench_report make FILE HOURS   keeps the session, for `gputrace report` itself
int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  gputrace::test::SessionRecipe recipe;
  recipe.registers = gputrace::kRegisters;
  if (arguments.size() == 3 && arguments[0] == "make") {
    recipe.seconds = std::stod(arguments[2]) * 3600;
    gputrace::write_session(arguments[1], recipe);
    return 0;
  }
  std::vector<double> hours;
  hours.reserve(std::max<std::size_t>(arguments.size(), 2));
  for (const std::string& argument : arguments) {
    hours.push_back(std::stod(argument));
  }
  if (hours.empty()) {
    hours = {1, 24};
  }
  for (const double length : hours) {
    const gputrace::test::TempDir dir;
    recipe.seconds = length * 3600;
    const auto path = dir.path() / "bench.gputrace";
    gputrace::write_session(path, recipe);
    gputrace::commands::ReportOptions options;
    gputrace::print(fmt::format("{:g} h at 1 kHz", length), path, options);
    options.timeline = true;
    gputrace::print(fmt::format("{:g} h, with its time line", length), path, options);
  }
  return 0;
}
