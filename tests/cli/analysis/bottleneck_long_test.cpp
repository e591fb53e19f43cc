// Classes of some 130 workloads on the simulated GPU, in two halves with other sizes of work
// groups, DRAM latencies, passes and seeds: limits were set with the first. Prints what
// docs/methodology.md, "Classes", has.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <map>

#include "tests/cli/analysis/simulated_work.h"

namespace gputrace::test {
namespace {

using analysis::Bottleneck;
using simulated_gpu::game_frame;
using simulated_gpu::GameFrameOptions;
using simulated_gpu::GpuDescription;
using simulated_gpu::Workload;

class WorkList {
 public:
  std::vector<SimulatedWork> works;

  void add(const std::string& name, Workload workload, double dram_latency_ns = 310,
           int group_threads = 0) {
    SimulatedWork work{.name = name, .workload = std::move(workload), .gpu = {}};
    work.gpu.dram_latency_ns = dram_latency_ns;
    if (work.workload.passes.size() == 1) {
      work.workload.max_wave_steps = 12'000;
    }
    for (auto& pass : work.workload.passes) {
      if (group_threads > 0 && !pass.pixel) {
        pass.group_threads = group_threads;
      }
    }
    works.push_back(std::move(work));
  }
};

/// What the halves do not share.
struct Half {
  std::vector<int> groups;
  std::vector<double> latencies;
  std::vector<double> fma;
  std::vector<int> chains;
  std::vector<double> sides;
  std::vector<int> fetches;
  std::vector<double> fills;
  std::vector<double> game_flops;
  std::vector<double> cpu_ms;
  std::uint64_t seed = 0;
};

const std::array<Half, 2>& halves() {
  static const std::array<Half, 2> kHalves = {Half{.groups = {64, 256, 1024},
                                                   .latencies = {200, 310},
                                                   .fma = {2, 32, 64, 128, 256, 512},
                                                   .chains = {1, 4, 16, 128},
                                                   .sides = {64, 1024},
                                                   .fetches = {4, 16},
                                                   .fills = {0, 16, 32, 128},
                                                   .game_flops = {1, 2, 6},
                                                   .cpu_ms = {9, 11, 16},
                                                   .seed = 5},
                                              Half{.groups = {128, 192, 512},
                                                   .latencies = {260, 450},
                                                   .fma = {1, 16, 48, 96, 192, 384, 512},
                                                   .chains = {2, 3, 8, 32, 64},
                                                   .sides = {96, 256, 2048},
                                                   .fetches = {2, 8},
                                                   .fills = {4, 24, 64},
                                                   .game_flops = {0.5, 3, 10},
                                                   .cpu_ms = {10, 14, 20},
                                                   .seed = 99}};
  return kHalves;
}

std::vector<SimulatedWork> works_of(const Half& half) {
  WorkList list;
  const GpuDescription gpu;
  for (const double latency : half.latencies) {
    for (const int group : half.groups) {
      for (const double fma : half.fma) {
        list.add(fmt::format("sweep {} fma, {} threads, {} ns", fma, group, latency),
                 simulated_gpu::flop_sweep(fma), latency, group);
      }
    }
    for (const int chains : half.chains) {
      list.add(fmt::format("chase x{}, {} ns", chains, latency),
               simulated_gpu::pointer_chase(gpu, chains, 64), latency);
    }
  }
  for (const int fetches : half.fetches) {
    for (const double side : half.sides) {
      list.add(fmt::format("random texture {} x{}", side, fetches),
               simulated_gpu::random_texture(gpu, side, fetches));
    }
    list.add(fmt::format("coherent texture x{}", fetches),
             simulated_gpu::coherent_texture(1024, fetches));
  }
  for (const double fma : half.fills) {
    list.add(fmt::format("RGBA8 fill {} fma", fma), simulated_gpu::colour_fill(fma, 4, 0.588));
    list.add(fmt::format("R8 fill {} fma", fma), simulated_gpu::colour_fill(fma, 1, 0.71));
  }
  for (const double flops : half.game_flops) {
    list.add(fmt::format("game, {} flops", flops), game_frame({.flops = flops, .cpu_ms = 3}));
  }
  for (const double cpu_ms : half.cpu_ms) {
    list.add(fmt::format("game, CPU {} ms", cpu_ms), game_frame({.cpu_ms = cpu_ms}));
  }
  list.add("post-processing",
           game_frame({.cpu_ms = 0, .shadow = false, .opaque = false, .blended = false}));
  list.add("scalar arithmetic", simulated_gpu::scalar_peak());
  return list.works;
}

struct Tally {
  std::map<std::string, std::map<std::string, int>> assigned;  ///< by true class
  std::array<std::array<int, 2>, 11> calibration{};            ///< all and right, by tenths

  void add(Bottleneck truth, const analysis::Verdict& verdict, bool right) {
    ++assigned[std::string(to_string(truth))][std::string(to_string(verdict.bottleneck))];
    auto& tenth = calibration.at(static_cast<std::size_t>(10 * verdict.confidence + 1e-9));
    ++tenth[0];
    tenth[1] += right ? 1 : 0;
  }
  void print(std::string_view title) const {
    fmt::print("{}\n", title);
    for (const auto& [truth, row] : assigned) {
      fmt::print("  {:10}", truth);
      for (const auto& [name, count] : row) {
        fmt::print(" {} {}", name, count);
      }
      fmt::print("\n");
    }
    for (std::size_t i = 0; i < calibration.size(); ++i) {
      if (calibration.at(i)[0] > 0) {
        fmt::print("  confidence {:.1f}: {} of {} right\n", 0.1 * static_cast<double>(i),
                   calibration.at(i)[1], calibration.at(i)[0]);
      }
    }
  }
};

/// Where speed follows two things more than one class is right, and memory is for both of its
/// kinds.
bool is_right(Bottleneck verdict, Bottleneck truth, const SpeedFollows& follows) {
  if (verdict == truth || truth == Bottleneck::kCpu) {
    return verdict == truth;
  }
  if (verdict == Bottleneck::kMemory) {
    return truth == Bottleneck::kBandwidth || truth == Bottleneck::kLatency ||
           truth == Bottleneck::kMixed;
  }
  constexpr double kMuch = 0.25;
  return follows.of(verdict) > (truth == Bottleneck::kMixed ? kMuch : 0.5);
}

}  // namespace

TEST_CASE("classes of the simulated GPU's work, and how right the stated confidence is") {
  constexpr double kCopyGbps = 73;
  for (const Half& half : halves()) {
    Tally alone;
    Tally with_bytes;
    int sure = 0;
    int sure_and_right = 0;
    for (const SimulatedWork& work : works_of(half)) {
      CAPTURE(work.name);
      SimulatedSample made = sample(work, 5, half.seed);
      const SpeedFollows follows = what_speed_follows(work);
      Bottleneck truth = follows.limit();
      if (truth == Bottleneck::kMixed && made.dram_gbps / made.work_share > 0.9 * kCopyGbps) {
        truth = Bottleneck::kBandwidth;
      }
      if (made.work_share < 0.75) {
        truth = Bottleneck::kCpu;
      }
      for (Tally* tally : {&alone, &with_bytes}) {
        if (tally == &with_bytes) {
          made.stretch.witness = dram_bytes(made.dram_gbps, kCopyGbps);
        }
        const auto verdict = made.stretch.classify();
        const bool right = is_right(verdict.bottleneck, truth, follows);
        tally->add(truth, verdict, right);
        sure += verdict.confidence >= 0.9 ? 1 : 0;
        sure_and_right += verdict.confidence >= 0.9 && right ? 1 : 0;
        if (!right) {
          fmt::print("  {}: {} {:.2f}, speed follows {}\n", work.name,
                     to_string(verdict.bottleneck), verdict.confidence, to_string(truth));
        }
        CHECK_FALSE(
            (work.name.starts_with("chase") && verdict.bottleneck == Bottleneck::kBandwidth));
        CHECK_FALSE(
            (truth == Bottleneck::kBandwidth && verdict.bottleneck == Bottleneck::kLatency));
      }
    }
    alone.print("busy bits alone");
    with_bytes.print("with DRAM bytes");
    CHECK(sure_and_right >= 0.95 * sure);
    CHECK(sure >= 20);
  }
}

}  // namespace gputrace::test
