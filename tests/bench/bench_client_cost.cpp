// CPU time a tick of `gputrace record` and of radeontop, both at 1 kHz on the same SIMULATED render
// node, in turns. Run inside with_gpu.sh with a GPU of two shader engines: gputrace then reads
// GRBM_STATUS, SE0 and SE1 in one ioctl and STATUS2 in another; radeontop reads GRBM_STATUS and
// asks for two clocks.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/bench/measured_command.h"
#include "tests/support/temp_dir.h"

namespace gputrace::bench {
namespace {

constexpr const char* kNode = "/dev/dri/renderD128";
constexpr double kShortS = 2;

// The rig counts the reads of both programs alike: neither is asked.
Result<std::uint64_t> register_reads() {
  const char* rig = std::getenv("GPUTRACE_RIG");
  std::ifstream control(std::filesystem::path(rig == nullptr ? "" : rig) / "control");
  constexpr std::string_view kKey = "register_reads=";
  for (std::string line; std::getline(control, line);) {
    if (line.starts_with(kKey)) {
      return std::stoull(line.substr(kKey.size()));
    }
  }
  return fail(ErrorCode::kUsage, "no rig: run this through tests/rig/with_gpu.sh");
}

struct Program {
  std::string name;
  double reads_per_tick = 1;
  std::vector<std::string> (*command)(const std::string& gputrace, double duration_s,
                                      const std::filesystem::path& folder);
};

std::vector<std::string> radeontop_command(const std::string& /*gputrace*/, double duration_s,
                                           const std::filesystem::path& /*folder*/) {
  return {
      "radeontop", "-t", "1000", "-d", "-", "-p", kNode, "-l", fmt::format("{:.0f}", duration_s)};
}

std::vector<std::string> gputrace_command(const std::string& gputrace, double duration_s,
                                          const std::filesystem::path& folder) {
  return {gputrace,     "record",
          "-q",         "--force",
          "--gpu",      "renderD128",
          "--rate",     "1000",
          "--duration", fmt::format("{:g}", duration_s),
          "-o",         (folder / "bench.gputrace").string()};
}

struct Cost {
  double ticks = 0;
  double wall_s = 0;
  double cpu_s = 0;
};

Result<Cost> run_once(const Program& program, const std::string& gputrace, double duration_s,
                      const std::filesystem::path& folder) {
  const auto before = register_reads();
  if (!before) {
    return tl::unexpected(before.error());
  }
  const auto command = measure_success(program.command(gputrace, duration_s, folder));
  if (!command) {
    return tl::unexpected(command.error());
  }
  const auto after = register_reads();
  if (!after) {
    return tl::unexpected(after.error());
  }
  return Cost{static_cast<double>(*after - *before) / program.reads_per_tick, command->wall_s,
              command->cpu_s};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Series {
  std::vector<double> ticks_per_s;
  std::vector<double> whole_us;    ///< CPU a tick with start, stop and file
  std::vector<double> running_us;  ///< CPU a tick of a long run less a short one
};

Status measure(const Program& program, const std::string& gputrace, double duration_s,
               const std::filesystem::path& folder, Series& series) {
  const auto brief = run_once(program, gputrace, kShortS, folder);
  const auto full = brief ? run_once(program, gputrace, duration_s, folder) : brief;
  if (!full) {
    return tl::unexpected(full.error());
  }
  series.ticks_per_s.push_back((full->ticks - brief->ticks) / (full->wall_s - brief->wall_s));
  series.whole_us.push_back(full->cpu_s * 1e6 / full->ticks);
  series.running_us.push_back((full->cpu_s - brief->cpu_s) * 1e6 / (full->ticks - brief->ticks));
  fmt::print("  {:<10} {:7.1f} ticks/s  {:6.1f} us/tick running  {:6.1f} us/tick whole run\n",
             program.name, series.ticks_per_s.back(), series.running_us.back(),
             series.whole_us.back());
  std::fflush(stdout);
  return {};
}

Status run(const std::string& gputrace, int rounds, double duration_s) {
  const test::TempDir folder;
  const std::vector<Program> programs{{"radeontop", 1, radeontop_command},
                                      {"gputrace", 2, gputrace_command}};
  std::vector<Series> series(programs.size());
  fmt::print("CPU a tick at 1 kHz, SIMULATED render node, {} rounds of {:g} s in turns\n", rounds,
             duration_s);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < programs.size(); ++i) {
      // Every other round in the other order, so that a drift of the machine favours neither.
      const std::size_t which = round % 2 == 0 ? i : programs.size() - 1 - i;
      if (Status status =
              measure(programs[which], gputrace, duration_s, folder.path(), series[which]);
          !status) {
        return status;
      }
    }
  }
  fmt::print("median, gputrace : radeontop\n");
  fmt::print("  ticks/s            {:7.1f} : {:7.1f}\n", median(series[1].ticks_per_s),
             median(series[0].ticks_per_s));
  for (const auto& [name, values] : {std::pair("us/tick, running ", &Series::running_us),
                                     std::pair("us/tick, whole   ", &Series::whole_us)}) {
    const double ours = median(series[1].*values);
    const double theirs = median(series[0].*values);
    fmt::print("  {}  {:7.1f} : {:7.1f}   ratio {:.2f} (wanted: at most 1)\n", name, ours, theirs,
               ours / theirs);
  }
  return {};
}

int main_without_exceptions(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr,
               "usage: with_gpu.sh RIG --gpu rx7600 -- bench_client_cost GPUTRACE "
               "[ROUNDS [SECONDS]]\n");
    return 2;
  }
  const int rounds = argc > 2 ? std::stoi(argv[2]) : 5;
  const double duration_s = argc > 3 ? std::stod(argv[3]) : 12;
  if (Status status = run(argv[1], rounds, duration_s); !status) {
    fmt::print(stderr, "bench_client_cost: {}\n", status.error().message);
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
    std::fprintf(stderr, "bench_client_cost: %s\n", error.what());
    return 1;
  }
}
