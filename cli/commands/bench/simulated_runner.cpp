#include "cli/commands/bench/simulated_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "cli/commands/bench/stimulus_json.h"
#include "daemon/simulated_gpu/random.h"
#include "daemon/simulated_gpu/simulation.h"
#include "daemon/simulated_gpu/stimulus.h"

namespace gputrace::commands {

namespace {

/// RDNA's GPU timestamps count at 100 MHz.
constexpr double kTickNs = 10;

/// What a Radeon 780M under RADV offers, but for what the model has not.
vulkan::DeviceFacts facts_of(const simulated_gpu::SimulatedModel& model) {
  constexpr std::uint32_t kAmd = 0x1002;
  vulkan::DeviceFacts facts;
  facts.listed = {.name = "SIMULATED " + model.name,
                  .type = model.apu ? "integrated GPU" : "discrete GPU",
                  .driver = std::string(kSimulatedDriver),
                  .driver_info = std::string(kSimulatedDriverInfo),
                  .api_version = "",
                  .vendor_id = kAmd,
                  .device_id = 0,
                  .pci = std::nullopt};
  facts.subgroup_size = 64;
  facts.subgroup_sizes = {32, 64};
  facts.fp16 = true;
  facts.fp64 = true;
  facts.int8_dot = true;
  facts.int16 = true;
  facts.int64 = true;
  facts.buffer_addresses = true;
  facts.int64_atomics = true;
  facts.bc_textures = true;
  facts.matrix_shapes = {{.m = 16, .n = 16, .k = 16, .accumulates_fp32 = true},
                         {.m = 16, .n = 16, .k = 16, .accumulates_fp32 = false}};
  facts.max_groups_x = std::numeric_limits<std::uint32_t>::max();
  facts.max_group_threads = 1024;
  facts.max_shared_bytes = 65536;
  facts.max_storage_range = std::numeric_limits<std::uint32_t>::max();
  facts.max_uniform_range = 65536;
  facts.max_texel_elements = std::uint64_t{1} << 27U;
  facts.max_image_side = 16384;
  facts.memory_bytes = static_cast<std::uint64_t>(model.vram_mib) << 20U;
  facts.timestamp_period_ns = kTickNs;
  return facts;
}

/// What the kernels of one runner share.
struct Shared {
  Shared(const simulated_gpu::Scenario& scenario, Clock* given_clock)
      : times(scenario),
        random(scenario.seed),
        clock(given_clock == nullptr ? &monotonic : given_clock) {}

  simulated_gpu::StimulusTimes times;
  simulated_gpu::Random random;
  MonotonicClock monotonic;
  Clock* clock;
};

/// Normally distributed (Box and Muller, 1958).
double normal(simulated_gpu::Random& random) {
  const double radius = std::sqrt(random.exponential(2));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

class SimulatedKernel final : public bench::PreparedKernel {
 public:
  SimulatedKernel(bench::KernelCase kernel, std::shared_ptr<Shared> shared)
      : kernel_(std::move(kernel)), shared_(std::move(shared)) {}

  [[nodiscard]] const bench::KernelCase& kernel() const override { return kernel_; }

  [[nodiscard]] Result<vulkan::RunTime> run(const bench::Launch& launch) override {
    // Looking a time up is the host's pause, solving one the first time delays the begin.
    const auto expected = shared_->times.run(stimulus_json(kernel_.stimulus(launch)));
    if (!expected) {
      return fail(expected.error(), fmt::format("cannot simulate the kernel {}", kernel_.id));
    }
    const double scattered_ns =
        expected->gpu_ns * (1 + kSimulatedScatter * normal(shared_->random));
    const double ticks = std::max(0.0, std::round(scattered_ns / kTickNs));
    const double wall_ns = ticks * kTickNs + expected->host_ns;
    Clock& clock = *shared_->clock;
    const std::int64_t end_ns = clock.now_ns() + std::llround(wall_ns);
    while (clock.now_ns() < end_ns) {
      clock.sleep_until(end_ns);
    }
    return vulkan::RunTime{
        .gpu_ns = ticks * kTickNs, .ticks = static_cast<std::uint64_t>(ticks), .wall_ns = wall_ns};
  }

  [[nodiscard]] Status check_result(const bench::Launch& /*launch*/) override { return {}; }

  [[nodiscard]] Result<std::vector<vulkan::Executable>> executables() const override {
    return fail(ErrorCode::kUnsupported, "the simulated GPU compiles no code");
  }

 private:
  bench::KernelCase kernel_;
  std::shared_ptr<Shared> shared_;
};

class SimulatedRunner final : public bench::Runner {
 public:
  SimulatedRunner(const simulated_gpu::ChosenScenario& chosen, Clock* clock)
      : facts_(facts_of(*chosen.model)), shared_(std::make_shared<Shared>(chosen.scenario, clock)) {
    facts_.cores = static_cast<std::uint32_t>(chosen.scenario.gpu.compute_units);
  }

  [[nodiscard]] const vulkan::DeviceFacts& facts() const override { return facts_; }
  [[nodiscard]] bool simulated() const override { return true; }

  [[nodiscard]] Result<std::unique_ptr<bench::PreparedKernel>> prepare(
      const bench::KernelCase& kernel) override {
    if (!kernel.stimulus) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("the kernel {} says nothing that could be simulated", kernel.id));
    }
    const auto bytes = std::accumulate(
        kernel.buffers.begin(), kernel.buffers.end(), std::uint64_t{0},
        [](std::uint64_t sum, const bench::BufferNeed& need) { return sum + need.bytes; });
    if (bytes > facts_.memory_bytes) {
      return fail(ErrorCode::kNoSpace,
                  fmt::format("the kernel {} needs {} MiB of buffers, {} has {}", kernel.id,
                              bytes >> 20U, facts_.listed.name, facts_.memory_bytes >> 20U));
    }
    return std::make_unique<SimulatedKernel>(kernel, shared_);
  }

  [[nodiscard]] Status reopen() override { return {}; }

 private:
  vulkan::DeviceFacts facts_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace

Result<std::unique_ptr<bench::Runner>> open_simulated_runner(std::string_view argument,
                                                             Clock* clock) {
  const auto chosen = simulated_gpu::choose_scenario(argument);
  if (!chosen) {
    return tl::unexpected(chosen.error());
  }
  return std::make_unique<SimulatedRunner>(*chosen, clock);
}

}  // namespace gputrace::commands
