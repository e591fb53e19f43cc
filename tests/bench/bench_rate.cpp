// One recording at a high rate: what was reached, missed and dropped, as the session itself says.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/bench/measured_command.h"
#include "tests/support/temp_dir.h"

namespace gputrace::bench {
namespace {

struct Wanted {
  std::string label;
  std::string gpu;
  double rate_hz = 0;
  double duration_s = 0;
  double least_hz = 0;
};

Status run(const std::string& gputrace, const Wanted& wanted) {
  const test::TempDir folder;
  const std::string file = (folder.path() / "bench.gputrace").string();
  const auto record = measure_success({gputrace, "record", "-q", "--gpu", wanted.gpu, "--rate",
                                       fmt::format("{:g}", wanted.rate_hz), "--duration",
                                       fmt::format("{:g}", wanted.duration_s), "-o", file});
  if (!record) {
    return tl::unexpected(record.error());
  }
  const auto report = measure_success({gputrace, "report", "--json", file});
  if (!report) {
    return tl::unexpected(report.error());
  }
  const auto sampling = nlohmann::json::parse(report->output).at("sampling");
  const double achieved = sampling.at("achieved_hz").get<double>();
  const std::size_t bytes = std::filesystem::file_size(file);
  const double samples = sampling.at("samples").get<double>();
  fmt::print(
      "{:<28} {:8.1f} ticks/s of {:g} (wanted {:g}: {})  missed {}  dropped {}  late us p50 {:.1f} "
      "p99 {:.1f}  CPU {:.1f} % of one core, {:.1f} us/tick  {:.2f} bytes/tick\n",
      wanted.label, achieved, wanted.rate_hz, wanted.least_hz,
      achieved >= wanted.least_hz && sampling.at("dropped") == 0 ? "yes" : "NO",
      sampling.at("missed").dump(), sampling.at("dropped").dump(),
      sampling.at("late_us").at("p50").get<double>(),
      sampling.at("late_us").at("p99").get<double>(), 100 * record->cpu_s / record->wall_s,
      record->cpu_s * 1e6 / samples, static_cast<double>(bytes) / samples);
  return {};
}

int main_without_exceptions(int argc, char** argv) {
  if (argc != 7) {
    fmt::print(stderr, "usage: bench_rate GPUTRACE LABEL GPU RATE SECONDS LEAST_TICKS_PER_S\n");
    return 2;
  }
  const Wanted wanted{argv[2], argv[3], std::stod(argv[4]), std::stod(argv[5]), std::stod(argv[6])};
  if (Status status = run(argv[1], wanted); !status) {
    fmt::print(stderr, "bench_rate: {}\n", status.error().message);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gputrace::bench

int main(int argc, char** argv) {
  try {
    return gputrace::bench::main_without_exceptions(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_rate: %s\n", error.what());
    return 1;
  }
}
