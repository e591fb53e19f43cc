// Engine time and memory of processes, and frame times, in reports of session files.
#include "cli/commands/report/report_processes.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/cli/commands/report/sensor_session.h"

using namespace gputrace;        // NOLINT(google-build-using-namespace)
using namespace gputrace::test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr const char* kGpu = "0000:c4:00.0";

store::ClientUsage usage(double at_s, std::int64_t pid, std::uint64_t client, double gfx_s,
                         std::optional<std::uint64_t> vram, const char* gpu = kGpu) {
  store::ClientUsage usage;
  usage.time_ns = SessionRecipe{}.start_ns + static_cast<std::int64_t>(at_s * 1e9);
  usage.pid = pid;
  usage.process = "p" + std::to_string(pid);
  usage.pdev = gpu;
  usage.client_id = client;
  usage.engine_ns["gfx"] = static_cast<std::uint64_t>(gfx_s * 1e9);
  usage.vram_bytes = vram;
  return usage;
}

report::Report report_of_usage(const std::vector<store::ClientUsage>& readings,
                               const commands::ReportOptions& options = {}) {
  const SessionRecipe recipe = changing_load();
  const TempDir folder;
  const std::filesystem::path path = folder.path() / "s.gputrace";
  {
    store::SessionWriter writer = begin_session(path, recipe, {}, kGpu);
    for (const store::ClientUsage& reading : readings) {
      REQUIRE(writer.write_client_usage(reading));
    }
    finish_session(writer, recipe);
  }
  return must_report(path, options);
}

}  // namespace

TEST_CASE("a process has the engine time of its clients, most first") {
  const report::Report report = report_of_usage(
      {usage(1, 10, 1, 0.1, 100), usage(1, 10, 2, 0.2, 50), usage(2, 20, 3, 0.9, std::nullopt),
       usage(3, 10, 1, 1.5, 300), usage(4, 10, 1, 1.8, 200)});
  REQUIRE(report.processes.size() == 2);
  CHECK(report.processes[0].pid == 10);
  CHECK(report.processes[0].name == "p10");
  CHECK(report.processes[0].gpu == kGpu);
  CHECK(report.processes[0].gpu_s.at("gfx") == doctest::Approx(2.0));
  CHECK(report.processes[0].vram_bytes == 350U);  // the largest sum, not the last
  CHECK_FALSE(report.processes[0].gtt_bytes);
  CHECK(report.processes[1].gpu_s.at("gfx") == doctest::Approx(0.9));
  CHECK_FALSE(report.processes[1].vram_bytes);
  CHECK_FALSE(has_warning(report, "other_gpu"));
}

TEST_CASE("a selection has only what was used in it, and the memory held at its beginning") {
  commands::ReportOptions options;
  options.from_s = 2.5;
  options.to_s = 5;
  const report::Report report =
      report_of_usage({usage(1, 10, 1, 0.5, 900), usage(2, 10, 1, 1, 700),
                       usage(3, 10, 1, 1.4, 600), usage(6, 10, 1, 4, 5000), usage(7, 20, 2, 1, 1)},
                      options);
  REQUIRE(report.processes.size() == 1);
  CHECK(report.processes[0].gpu_s.at("gfx") == doctest::Approx(0.4));
  CHECK(report.processes[0].vram_bytes == 700U);
}

TEST_CASE("a client that is older than the session begins with what it had") {
  const report::Report report =
      report_of_usage({usage(1, 10, 1, 3600, 1), usage(2, 10, 1, 3600.25, 1)});
  REQUIRE(report.processes.size() == 1);
  CHECK(report.processes[0].gpu_s.at("gfx") == doctest::Approx(0.25));
}

TEST_CASE("engine time that steps back is not known, and never negative") {
  const report::Report report =
      report_of_usage({usage(1, 10, 1, 0.5, 1), usage(2, 10, 1, 0.2, 1), usage(3, 10, 1, 0.3, 1)});
  REQUIRE(report.processes.size() == 1);
  CHECK(report.processes[0].gpu_s.at("gfx") == doctest::Approx(0.6));
}

TEST_CASE("clients of two GPUs with one id are two, and work elsewhere is warned about") {
  const report::Report both =
      report_of_usage({usage(1, 10, 1, 0.5, 1), usage(1, 10, 1, 0.25, 1, "0000:03:00.0")});
  REQUIRE(both.processes.size() == 2);
  CHECK(both.processes[0].gpu_s.at("gfx") == doctest::Approx(0.5));
  CHECK(both.processes[1].gpu == "0000:03:00.0");
  CHECK_FALSE(has_warning(both, "other_gpu"));
  const report::Report elsewhere = report_of_usage({usage(1, 10, 1, 0.25, 1, "0000:03:00.0")});
  CHECK(warning_text(elsewhere, "other_gpu").find("--gpu 0000:03:00.0") != std::string::npos);
}

TEST_CASE("frame times become rate, median and 99 %") {
  std::vector<store::Frame> frames;
  frames.reserve(100);
  for (int i = 0; i < 100; ++i) {
    frames.push_back({i, i < 98 ? 10'000'000 : 30'000'000});
  }
  const auto made = commands::frames_of(frames);
  REQUIRE(made);
  CHECK(made->count == 100);
  CHECK(made->median_ms == doctest::Approx(10));
  CHECK(made->p99_ms == doctest::Approx(30));
  CHECK(made->fps == doctest::Approx(100 / 1.04));
  CHECK_FALSE(commands::frames_of({}));
}
