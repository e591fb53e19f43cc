// What becomes of whole files of other tools: tests/golden/import/NAME.txt, checked by hand.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/import/memory_sink.h"
#include "tests/support/golden.h"

namespace gputrace::import {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

double seconds(const test::MemorySink& sink, std::int64_t time_ns) {
  return static_cast<double>(time_ns - sink.segment.start_ns) / 1e9;
}

/// Times in seconds since the start. Without the date, which may depend on the time zone, and the
/// decisions about units, whose words are the tables'.
std::string in_words(const test::MemorySink& sink, const ImportSummary& summary) {
  std::string out = fmt::format("{} | {} | {} | rows {}\n", sink.session->origin,
                                sink.segment.gpu.name, sink.segment.gpu.pci, summary.rows);
  for (const store::WindowMean& mean : sink.means) {
    out += fmt::format("mean {} bit {} {:.3f} to {:.3f}: {:.2f}\n",
                       sink.segment.registers[mean.register_index].name, mean.bit,
                       seconds(sink, mean.start_ns), seconds(sink, mean.end_ns), mean.busy);
  }
  for (const test::MemorySink::Series& series : sink.series) {
    const sampler::SensorDescription& sensor = series.sensor;
    for (const store::SensorRun& run : series.runs) {
      out += fmt::format("{} = {} {} ({}) {:.4f} to {:.4f}, {} readings{}\n", sensor.name,
                         run.value, sensor.unit, sensor.source, seconds(sink, run.start_ns),
                         seconds(sink, run.end_ns), run.readings,
                         sensor.covers.empty() ? "" : ", covers " + sensor.covers);
    }
  }
  for (const store::Frame& frame : sink.frames) {
    out += fmt::format("frame of {:.1f} ms at {:.4f}\n",
                       static_cast<double>(frame.duration_ns) / 1e6, seconds(sink, frame.end_ns));
  }
  for (const store::ClientUsage& usage : sink.usage) {
    out += fmt::format("client {} {} at {:.3f}: vram {} gtt {}", usage.pid, usage.process,
                       seconds(sink, usage.time_ns), usage.vram_bytes.value_or(0) >> 20U,
                       usage.gtt_bytes.value_or(0) >> 20U);
    for (const auto& [engine, busy_ns] : usage.engine_ns) {
      out += fmt::format(" {} {:.3f} s", engine, static_cast<double>(busy_ns) / 1e9);
    }
    out += "\n";
  }
  for (const std::string& note : summary.notes) {
    out += "note: " + note + "\n";
  }
  for (const std::string& warning : summary.warnings) {
    out += "warning: " + warning + "\n";
  }
  return out;
}

TEST_CASE("files of MangoHud and amdgpu_top become what the golden files have") {
  for (const std::string name : {"game_2026-11-29_22-27-15.csv", "amdgpu_top.jsonl",
                                 "amdgpu_top_two_gpus.json", "amdgpu_top_0.1.jsonl"}) {
    CAPTURE(name);
    test::MemorySink sink;
    const auto summary =
        test::import_text(read_file(GPUTRACE_FIXTURES "/import/" + name), sink, {}, name);
    REQUIRE_MESSAGE(summary, (summary ? "" : summary.error().message));
    test::check_golden("import/" + name + ".txt", in_words(sink, *summary));
  }
}

}  // namespace
}  // namespace gputrace::import
