#include "daemon/simulated_gpu/stimulus.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/simulated_gpu/fingerprint.h"
#include "daemon/simulated_gpu/stimulus_reader.h"

namespace gputrace::simulated_gpu {

namespace {

constexpr std::size_t kMaxStimulusBytes = 4096;
/// Of the network, for a compute unit: a play is ready within 0.3 s.
constexpr double kWaveStepsPerCu = 1400;
/// What a thread can have under way: 256 registers of 4 bytes.
constexpr double kMaxStepBytes = 1024;
/// Fetches of pixels are few; more of them share a step.
constexpr int kMaxPixelSteps = 64;

/// Texels of a block that lies together: as square as a power of two allows, the wider side first.
struct Block {
  double width;
  double height;
};

Block texel_block(double bytes, double texel_bytes) {
  const auto texels = static_cast<unsigned>(std::max(1.0, bytes / texel_bytes));
  const auto halvings = static_cast<unsigned>(std::bit_width(texels)) - 1;
  return {static_cast<double>(1U << (halvings + 1) / 2), static_cast<double>(1U << halvings / 2)};
}

/// Blocks that a footprint of 2x2 texels at a random place touches.
double touched(const Block& block) {
  return (1 + 1 / block.width) * (1 + 1 / block.height);
}

class PassMaker {
 public:
  PassMaker(const Stimulus& stimulus, const GpuDescription& gpu) : stimulus_(stimulus), gpu_(gpu) {}

  Pass make() {
    pass_.pixel = stimulus_.pixels;
    pass_.issue_share = stimulus_.issue_share;
    pass_.flops = stimulus_.flops;
    if (stimulus_.code_bytes > 0) {
      pass_.code_kib = stimulus_.code_bytes / 1024;
    }
    if (stimulus_.waves_per_simd > 0) {
      pass_.waves_per_simd = stimulus_.waves_per_simd;
    }
    pass_.max_groups = stimulus_.max_groups;
    place_threads();
    place_steps();
    pass_.group_local_bytes = stimulus_.group_local_bytes;
    pass_.local_cycles = local_cycles_of_a_step();
    if (stimulus_.path != ReadFrom::kLocal) {
      pass_.read = read_of_a_step();
      pass_.read.path = stimulus_.path == ReadFrom::kScalar ? ReadPath::kScalar : ReadPath::kVector;
      pass_.read.filter_clk = stimulus_.path == ReadFrom::kSampled ? gpu_.texture_filter_clk : 0;
    }
    if (stimulus_.pixels) {
      write_pixels();
    } else if (stimulus_.access != Access::kAtomic) {
      pass_.store_bytes = stimulus_.written_bytes;
      pass_.store_gl2_miss = gl2_miss_of_stores();
      steps_that_write();
    }
    return pass_;
  }

 private:
  void place_threads() {
    // Pixels come in bundles of the model's own size.
    if (!stimulus_.pixels && stimulus_.group_threads > 0) {
      pass_.group_threads =
          stimulus_.group_threads < kWaveThreads
              ? stimulus_.group_threads
              : (stimulus_.group_threads + kWaveThreads - 1) / kWaveThreads * kWaveThreads;
    }
    pass_.threads = std::max(1.0, stimulus_.threads / stimulus_.launches);
    if (!stimulus_.pixels) {
      // The last group is a whole one.
      pass_.threads = std::ceil(pass_.threads / pass_.group_threads) * pass_.group_threads;
    }
  }

  void place_steps() {
    double steps = std::max(1.0, std::round(stimulus_.steps));
    if (stimulus_.access != Access::kNone && stimulus_.access != Access::kChase) {
      steps = std::max(steps, std::ceil(stimulus_.read_bytes / kMaxStepBytes));
    }
    steps = std::min(steps, stimulus_.pixels ? double{kMaxPixelSteps} : 1e9);
    pass_.steps = static_cast<int>(steps);
  }

  /// Where each step has something to write, a step is a thread of its own: the model's waves write
  /// when they end.
  void steps_that_write() {
    constexpr double kLeastStore = 4;
    if (pass_.steps > 1 && pass_.store_bytes / pass_.steps >= kLeastStore &&
        stimulus_.access != Access::kChase) {
      pass_.threads *= pass_.steps;
      pass_.flops /= pass_.steps;
      pass_.store_bytes /= pass_.steps;
      pass_.steps = 1;
    }
  }

  /// Lanes that meet at one bank, or at one word with atomics, are served one after the other.
  [[nodiscard]] double local_cycles_of_a_step() const {
    const double own_bytes = stimulus_.path == ReadFrom::kLocal && stimulus_.access != Access::kNone
                                 ? stimulus_.read_bytes + stimulus_.written_bytes
                                 : 0;
    const double bytes = (own_bytes + stimulus_.local_bytes) / pass_.steps;
    const double in_turn = std::min(stimulus_.sharers, double{kWaveThreads});
    if (stimulus_.path == ReadFrom::kLocal && stimulus_.access == Access::kAtomic) {
      constexpr double kWordBytes = 4;
      return bytes / kWordBytes / gpu_.local_atomics_per_clk_cu * in_turn;
    }
    return bytes / gpu_.local_bytes_per_clk_cu * in_turn;
  }

  [[nodiscard]] double miss(double kib) const {
    return std::max(0.0, 1 - kib * 1024 / stimulus_.footprint_bytes);
  }

  /// L0 writes through and GL1 is read only; GL2 keeps what is written until it needs the room
  /// ("RDNA Architecture", AMD 2019, the cache hierarchy). What is written over and over within its
  /// size does not reach DRAM.
  [[nodiscard]] double gl2_miss_of_stores() const {
    const bool again = stimulus_.access == Access::kResident || stimulus_.access == Access::kRandom;
    return again && stimulus_.footprint_bytes > 0 ? miss(gpu_.gl2_kib) : 1;
  }

  [[nodiscard]] VectorMemoryStep random_places(double lines, double sectors, double cycles) const {
    return random_read(gpu_, stimulus_.footprint_bytes / 1024, lines, sectors, cycles);
  }

  [[nodiscard]] VectorMemoryStep read_of_a_step() const {
    const double bytes = stimulus_.read_bytes / pass_.steps;
    VectorMemoryStep step;
    switch (stimulus_.access) {
      case Access::kNone:
        break;
      case Access::kStream:
        step = bytes > 0 ? stream_read(bytes) : step;
        break;
      case Access::kResident:
        step = bytes > 0 ? resident_read(bytes) : step;
        break;
      case Access::kRandom: {
        constexpr double kWidestLoad = 16;
        const double loads = std::max(1.0, bytes / kWidestLoad);
        step = random_places(loads, loads, 0.25 * loads);
        break;
      }
      case Access::kChase:
        step = chase();
        break;
      case Access::kTexture:
        step = coherent_fetches();
        break;
      case Access::kRandomTexture:
        step = random_fetches();
        break;
      case Access::kAtomic:
        step = atomics();
        break;
    }
    return step;
  }

  /// Each thread follows a pointer of its own. Nodes farther apart than a line leave what lies
  /// between them out of the caches, and farther than a page out of the TLB's reach.
  [[nodiscard]] VectorMemoryStep chase() const {
    const double nodes = stimulus_.footprint_bytes / std::max(stimulus_.stride_bytes, 1.0);
    const double touched_bytes = stimulus_.stride_bytes > kLineBytes
                                     ? std::max(1.0, nodes) * kLineBytes
                                     : stimulus_.footprint_bytes;
    VectorMemoryStep step = random_read(gpu_, touched_bytes / 1024, 1, 1, 0.25);
    const double pages = stimulus_.stride_bytes > kPageBytes
                             ? std::max(1.0, nodes)
                             : stimulus_.footprint_bytes / kPageBytes;
    step.tlb_misses = std::max(0.0, 1 - gpu_.tlb1_reach_kib * 1024 / kPageBytes / pages);
    if (stimulus_.path == ReadFrom::kScalar) {
      const double gl1 = step.l0_miss * step.gl1_miss;
      step.l0_miss = std::max(0.0, 1 - gpu_.scalar_cache_kib * 1024 / touched_bytes);
      step.gl1_miss = step.l0_miss > 0 ? gl1 / step.l0_miss : 0;
    }
    return step;
  }

  /// A level holds its share of the footprint, whatever it replaces, and hits on that: as for
  /// random places. (Replacing the least recently used line, a loop over more than fits would never
  /// hit.)
  [[nodiscard]] VectorMemoryStep resident_read(double bytes) const {
    VectorMemoryStep step = stream_read(bytes);
    const VectorMemoryStep places = random_places(1, 1, 1);
    step.l0_miss = places.l0_miss;
    step.gl1_miss = places.gl1_miss;
    step.gl2_miss = places.gl2_miss;
    step.tlb_misses *= miss(gpu_.tlb1_reach_kib);
    step.random = true;
    return step;
  }

  [[nodiscard]] double fetches_of_a_step() const {
    return std::max(1.0, stimulus_.fetches) / pass_.steps;
  }
  [[nodiscard]] double texel_bytes() const {
    constexpr double kRgba8 = 4;
    const double fetches = std::max(1.0, stimulus_.fetches);
    return stimulus_.read_bytes > 0 ? std::clamp(stimulus_.read_bytes / fetches, 0.5, 16.0)
                                    : kRgba8;
  }

  [[nodiscard]] VectorMemoryStep coherent_fetches() const {
    const double fetches = fetches_of_a_step();
    VectorMemoryStep step;
    step.lines = 0.25 * 1.3 * fetches;  // a quad of pixels shares its lines [A]
    step.sectors = 0.3 * fetches;
    step.address_cycles = 0.25 * fetches;
    // Misses are the unique bytes of a pixel: a texel, shared by its fetches.
    const double unique_lines = texel_bytes() / pass_.steps / kLineBytes;
    step.l0_miss = std::min(1.0, unique_lines / step.lines);
    step.gl1_miss = 0.5;                                                        // [A]
    step.gl2_miss = stimulus_.footprint_bytes > gpu_.gl2_kib * 1024 ? 0.3 : 0;  // [A]
    return step;
  }

  [[nodiscard]] VectorMemoryStep random_fetches() const {
    const double fetches = fetches_of_a_step();
    const double lines = stimulus_.bilinear ? touched(texel_block(kLineBytes, texel_bytes())) : 1;
    const double sectors =
        stimulus_.bilinear ? touched(texel_block(kSectorBytes, texel_bytes())) : 1;
    return random_places(lines * fetches, sectors * fetches, 0.25 * fetches);
  }

  /// Executed in L2: every line that a wave's lanes touch goes there. How close the lanes are
  /// follows from the footprint: that of one place, or so much of it for each thread. That atomics
  /// on one place wait for each other is not modelled.
  [[nodiscard]] VectorMemoryStep atomics() const {
    constexpr double kWordBytes = 4;
    const double operations = std::max(
        1.0, std::max(stimulus_.read_bytes, stimulus_.written_bytes) / kWordBytes / pass_.steps);
    const double stride = stimulus_.footprint_bytes / pass_.threads;
    VectorMemoryStep step;
    step.lines = operations * std::clamp(stride / kLineBytes, 1.0 / kWaveThreads, 1.0);
    step.sectors = step.lines;
    step.address_cycles = 0.25 * operations;
    step.gl2_miss = miss(gpu_.gl2_kib);
    step.random = true;
    step.tlb_misses = step.lines * miss(gpu_.tlb1_reach_kib);
    return step;
  }

  void write_pixels() {
    const bool fetches = stimulus_.access != Access::kNone;
    pass_.interpolants = fetches;
    pass_.triangles = std::max(1.0, stimulus_.overdraw);
    pass_.colour_write_bytes = stimulus_.written_bytes;
    if (!fetches) {
      pass_.colour_read_bytes = stimulus_.read_bytes;  // what blending reads
    }
    // Layers over each other meet in L2 while the target takes at most half of it [A].
    const double layers = std::max(1.0, stimulus_.overdraw);
    const double target_bytes = pass_.threads / layers * stimulus_.written_bytes;
    if (target_bytes <= gpu_.gl2_kib * 1024 / 2) {
      pass_.colour_dram_share = 1 / layers;
    }
  }

  const Stimulus& stimulus_;
  const GpuDescription& gpu_;
  Pass pass_;
};

}  // namespace

Result<PlayedStimulus> parse_stimulus(std::string_view text, const GpuDescription& gpu) {
  constexpr std::string_view kContext = "what a kernel does";
  if (text.size() > kMaxStimulusBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: longer than {} bytes", kContext, kMaxStimulusBytes));
  }
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: not JSON: {}", kContext, error.what()));
  }
  const auto stimulus = read_stimulus(document);
  if (!stimulus) {
    return fail(stimulus.error(), std::string(kContext));
  }
  PlayedStimulus played;
  played.launches = stimulus->launches;
  played.workload.name = "kernel";
  played.workload.gap_us /= stimulus->launches;
  played.workload.max_wave_steps = kWaveStepsPerCu * gpu.compute_units;
  played.workload.passes = {PassMaker(*stimulus, gpu).make()};
  return played;
}

StimulusTimes::StimulusTimes(const Scenario& scenario)
    : gpu_(scenario.gpu), power_limit_w_(scenario.power_limit_w), seed_(scenario.seed) {}

Result<StimulusRun> StimulusTimes::run(std::string_view text) {
  if (const auto known = runs_.find(text); known != runs_.end()) {
    return known->second;
  }
  const auto played = parse_stimulus(text, gpu_);
  if (!played) {
    return tl::unexpected(played.error());
  }
  const Workload& workload = played->workload;
  const std::uint64_t key =
      fingerprint(gpu_, workload, {.power_limit_w = power_limit_w_, .seed = seed_, .variants = 1});
  auto launch = launches_.find(key);
  if (launch == launches_.end()) {
    const auto point = solve_clock(gpu_, workload, power_limit_w_, seed_);
    if (!point) {
      return tl::unexpected(point.error());
    }
    launch = launches_.emplace(key, *point).first;
  }
  const OperatingPoint& point = launch->second;
  const StimulusRun run{.gpu_ns = point.gpu_ns * played->launches,
                        .host_ns = (point.length_ns - point.gpu_ns) * played->launches,
                        .clock_ghz = point.clock_ghz,
                        .power_w = point.power_w};
  runs_.emplace(text, run);
  return run;
}

}  // namespace gputrace::simulated_gpu
