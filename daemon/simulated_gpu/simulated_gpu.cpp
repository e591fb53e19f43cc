#include "daemon/simulated_gpu/simulated_gpu.h"

#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/simulated_gpu/playback.h"
#include "daemon/simulated_gpu/scenario_clock.h"
#include "daemon/simulated_gpu/sensor_readers.h"

namespace gputrace::simulated_gpu {

namespace {

class SimulatedReader final : public sampler::RegisterReader {
 public:
  SimulatedReader(std::shared_ptr<const Playback> playback, std::shared_ptr<ScenarioClock> clock)
      : playback_(std::move(playback)), clock_(std::move(clock)) {}

  [[nodiscard]] std::span<const sampler::OfferedRegister> registers() const noexcept override {
    return playback_->simulation().registers();
  }

  void read(std::int64_t now_ns, sampler::ReadBuffer out) noexcept override {
    const std::int64_t begin_ns = monotonic_now_ns();
    const UnitMask state = playback_->state_at(clock_->start(now_ns));
    for (std::size_t i = 0; i < out.words.size(); ++i) {
      out.words[i] = playback_->simulation().word(i, state);
      out.states[i] = sampler::SampleState::kValid;
    }
    const auto cost_ns = static_cast<std::uint32_t>(monotonic_now_ns() - begin_ns);
    for (std::uint32_t& cost : out.cost_ns) {
      cost = cost_ns;
    }
  }

  [[nodiscard]] std::vector<sampler::LostRegister> drop_lost() override { return {}; }
  [[nodiscard]] std::string last_error() const override { return {}; }

 private:
  std::shared_ptr<const Playback> playback_;
  std::shared_ptr<ScenarioClock> clock_;
};

std::function<Status(std::string_view)> make_play(std::shared_ptr<Playback> playback,
                                                  std::shared_ptr<ScenarioClock> clock) {
  return [playback = std::move(playback), clock = std::move(clock),
          mutex = std::make_shared<std::mutex>()](std::string_view stimulus) -> Status {
    const std::scoped_lock lock(*mutex);
    std::shared_ptr<const PlayedKernel> kernel;
    if (!stimulus.empty()) {
      auto prepared = playback->prepare(stimulus);
      if (!prepared) {
        return fail(prepared.error(), "the simulated GPU cannot play a kernel");
      }
      kernel = std::move(*prepared);
    }
    playback->begin(std::move(kernel), clock->start(monotonic_now_ns()));
    return {};
  };
}

sampler::GpuIdentity identity_of(const Simulation& simulation) {
  sampler::GpuIdentity identity;
  identity.name = simulation.model().name;
  identity.gc = simulation.model().gc;
  identity.driver = "simulated";
  identity.simulated = true;
  identity.scenario = simulation.scenario().name;
  return identity;
}

}  // namespace

Result<OpenedSimulation> open_simulated_gpu(std::string_view argument,
                                            const regdb::RegisterDatabase& regdb,
                                            const std::filesystem::path& cache_folder,
                                            std::optional<std::int64_t> start_ns) {
  const std::int64_t begin_ns = monotonic_now_ns();
  auto loaded = Simulation::open(argument, regdb, cache_folder);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  const auto simulation = std::make_shared<const Simulation>(std::move(*loaded));
  const auto clock = std::make_shared<ScenarioClock>(start_ns);
  const auto playback = std::make_shared<Playback>(simulation);
  OpenedSimulation opened;
  opened.identity = identity_of(*simulation);
  opened.loaded_from_cache = simulation->loaded_from_cache();
  opened.reader = std::make_unique<SimulatedReader>(playback, clock);
  opened.truth = std::make_shared<const SimulatedSensors>(playback);
  opened.sensors = make_gpu_sensor_readers(opened.truth, clock);
  opened.machine_sensors = make_machine_sensor_readers(opened.truth, clock);
  opened.play = make_play(playback, clock);
  opened.load_seconds = static_cast<double>(monotonic_now_ns() - begin_ns) * 1e-9;
  return opened;
}

std::vector<SimulatedGpuListing> list_simulated_gpus() {
  std::vector<SimulatedGpuListing> listings;
  for (const SimulatedModel& model : simulated_models()) {
    for (const BuiltInScenario& known : built_in_scenarios()) {
      const auto scenario = make_built_in_scenario(known.name, model);
      GPUTRACE_CHECK(scenario.has_value());
      listings.push_back({fmt::format("sim:{}:{}", model.key, known.name), model.name,
                          std::string(known.description),
                          static_cast<double>(scenario->duration_ns()) * 1e-9});
    }
  }
  return listings;
}

}  // namespace gputrace::simulated_gpu
