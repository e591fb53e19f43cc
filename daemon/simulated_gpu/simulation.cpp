#include "daemon/simulated_gpu/simulation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/simulated_gpu/fingerprint.h"
#include "daemon/simulated_gpu/random.h"
#include "daemon/simulated_gpu/scenario_file.h"
#include "daemon/simulated_gpu/simulated_gpu.h"
#include "daemon/simulated_gpu/tape_cache.h"

namespace gputrace::simulated_gpu {

namespace {

constexpr std::string_view kPrefix = "sim:";
constexpr std::string_view kScenarioFileSuffix = ".json";

struct Argument {
  std::string_view gpu;
  std::string_view scenario;
};

/// "sim:GPU[:SCENARIO]"; either may be empty for the default. A file name may hold colons.
Argument split_argument(std::string_view argument) {
  const std::string_view rest = argument.substr(kPrefix.size());
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) {
    return {rest, {}};
  }
  return {rest.substr(0, colon), rest.substr(colon + 1)};
}

Result<const SimulatedModel*> find_model(std::string_view key) {
  if (key.empty()) {
    return &simulated_models().front();
  }
  if (const SimulatedModel* model = find_simulated_model(key)) {
    return model;
  }
  std::vector<std::string_view> keys;
  for (const SimulatedModel& model : simulated_models()) {
    keys.push_back(model.key);
  }
  return fail(ErrorCode::kNotFound, fmt::format("no simulated GPU is called \"{}\": use sim:{}",
                                                key, fmt::join(keys, ", sim:")));
}

Result<Scenario> find_scenario(std::string_view name, const SimulatedModel& model) {
  if (name.ends_with(kScenarioFileSuffix)) {
    return read_scenario_file(name, model);
  }
  return make_built_in_scenario(name.empty() ? built_in_scenarios().front().name : name, model);
}

/// GRBM_STATUS first, then what it is made of.
std::vector<std::string> wanted_registers(int shader_engines) {
  std::vector<std::string> names{"GRBM_STATUS"};
  for (int engine = 0; engine < shader_engines; ++engine) {
    names.push_back(fmt::format("GRBM_STATUS_SE{}", engine));
  }
  names.insert(names.end(), {"GRBM_STATUS2", "GRBM_STATUS3"});
  return names;
}

}  // namespace

bool is_simulated_argument(std::string_view argument) {
  return argument == "sim" || argument.starts_with(kPrefix);
}

std::string with_bench_scenario(std::string_view argument) {
  const bool names_gpu = argument.starts_with(kPrefix) && argument.size() > kPrefix.size();
  const Argument parts = names_gpu ? split_argument(argument) : Argument{};
  return parts.scenario.empty()
             ? fmt::format("{}{}:{}", kPrefix,
                           parts.gpu.empty() ? simulated_models().front().key : parts.gpu,
                           kBenchScenario)
             : std::string(argument);
}

Result<ChosenScenario> choose_scenario(std::string_view argument) {
  if (!is_simulated_argument(argument)) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("\"{}\" names no simulated GPU: use sim:780m", argument));
  }
  const Argument parts = argument == "sim" ? Argument{} : split_argument(argument);
  const auto model = find_model(parts.gpu);
  if (!model) {
    return tl::unexpected(model.error());
  }
  auto scenario = find_scenario(parts.scenario, **model);
  if (!scenario) {
    return tl::unexpected(scenario.error());
  }
  return ChosenScenario{*model, std::move(*scenario)};
}

Result<Simulation> Simulation::open(std::string_view argument, const regdb::RegisterDatabase& regdb,
                                    const std::filesystem::path& cache_folder) {
  const auto chosen = choose_scenario(argument);
  if (!chosen) {
    return tl::unexpected(chosen.error());
  }
  const auto map = regdb.map_for(chosen->model->gc);
  if (!map) {
    return fail(map.error(), fmt::format("cannot simulate the {}", chosen->model->name));
  }
  return load(*chosen->model, chosen->scenario, *map, cache_folder);
}

Simulation::Simulation(const SimulatedModel& model, const Scenario& scenario)
    : model_(model), scenario_(scenario) {}

Result<Simulation> Simulation::load(const SimulatedModel& model, const Scenario& scenario,
                                    const regdb::RegisterMap& map,
                                    const std::filesystem::path& cache_folder) {
  Simulation simulation(model, scenario);
  const TapeCache cache(cache_folder);
  std::vector<std::uint64_t> keys;  // of signals: phases with the same work share one
  std::vector<std::size_t> signal_of_phase;
  simulation.loaded_from_cache_ = true;
  for (const ScenarioPhase& phase : scenario.phases) {
    const SignalOptions options{
        .power_limit_w = scenario.power_limit_w, .seed = scenario.seed, .variants = phase.variants};
    const std::uint64_t key = fingerprint(scenario.gpu, phase.workload, options);
    const auto known = std::find(keys.begin(), keys.end(), key);
    signal_of_phase.push_back(static_cast<std::size_t>(known - keys.begin()));
    if (known != keys.end()) {
      continue;
    }
    keys.push_back(key);
    if (auto kept = cache.load(key)) {
      simulation.signals_.push_back(std::move(*kept));
      continue;
    }
    auto signal = SteadySignal::build(scenario.gpu, phase.workload, options);
    if (!signal) {
      return fail(signal.error(), fmt::format("cannot simulate the phase \"{}\" of {}", phase.label,
                                              scenario.name));
    }
    simulation.loaded_from_cache_ = simulation.loaded_from_cache_ && signal->variants().empty();
    cache.store(key, *signal);
    simulation.signals_.push_back(std::move(*signal));
  }
  simulation.place_phases(signal_of_phase);
  simulation.offer_registers(map);
  return simulation;
}

void Simulation::place_phases(const std::vector<std::size_t>& signal_of_phase) {
  for (std::size_t i = 0; i < scenario_.phases.size(); ++i) {
    const std::int64_t end_ns = duration_ns_ + scenario_.phases[i].duration_ns;
    // Two phases of the same work show its variants in different orders.
    phases_.push_back({.begin_ns = duration_ns_,
                       .end_ns = end_ns,
                       .signal = signal_of_phase[i],
                       .order = mix64(scenario_.seed * 131 + i),
                       .busy_before_ns = busy_in_round_ns_});
    for (std::size_t unit = 0; unit < kUnitCount; ++unit) {
      busy_in_round_ns_.at(unit) += busy_ns_in(phases_.back(), static_cast<Unit>(unit), end_ns);
    }
    duration_ns_ = end_ns;
  }
}

void Simulation::offer_registers(const regdb::RegisterMap& map) {
  for (const std::string& name : wanted_registers(scenario_.gpu.shader_engines)) {
    if (const regdb::Register* reg = map.find(name)) {
      registers_.push_back({reg->name, reg->dword_offset, "simulated"});
      register_fields_.push_back(*reg);
      words_.emplace_back(*reg);
    }
  }
}

std::size_t Simulation::phase_at(std::int64_t round_ns) const {
  std::size_t phase = 0;
  while (phases_[phase].end_ns <= round_ns) {
    ++phase;
  }
  return phase;
}

UnitMask Simulation::state_at(std::int64_t time_ns) const {
  if (time_ns < 0) {
    return 0;
  }
  const std::int64_t x_ns = time_ns % duration_ns_;
  const PlacedPhase& phase = phases_[phase_at(x_ns)];
  return signals_[phase.signal].state_at(static_cast<std::uint64_t>(x_ns - phase.begin_ns),
                                         phase.order);
}

std::int64_t Simulation::busy_ns_in(const PlacedPhase& phase, Unit unit, std::int64_t x_ns) const {
  return static_cast<std::int64_t>(signals_[phase.signal].busy_ns(
      static_cast<std::uint64_t>(x_ns - phase.begin_ns), unit, phase.order));
}

std::int64_t Simulation::busy_ns_until(Unit unit, std::int64_t end_ns) const {
  if (end_ns <= 0) {
    return 0;
  }
  const std::int64_t x_ns = end_ns % duration_ns_;
  const PlacedPhase& phase = phases_[phase_at(x_ns)];
  return end_ns / duration_ns_ * busy_in_round_ns_.at(index_of(unit)) +
         phase.busy_before_ns.at(index_of(unit)) + busy_ns_in(phase, unit, x_ns);
}

std::int64_t Simulation::busy_ns(Unit unit, std::int64_t begin_ns, std::int64_t end_ns) const {
  return busy_ns_until(unit, end_ns) - busy_ns_until(unit, begin_ns);
}

std::optional<std::int64_t> Simulation::busy_ns(std::string_view register_name,
                                                std::string_view field_name, std::int64_t begin_ns,
                                                std::int64_t end_ns) const {
  for (const regdb::Register& reg : register_fields_) {
    if (reg.name != register_name) {
      continue;
    }
    const regdb::RegisterField* field = reg.find_field(field_name);
    if (field == nullptr || field->kind != regdb::FieldKind::kBusy) {
      return std::nullopt;
    }
    const auto unit = unit_of_field(field_name);
    return unit ? busy_ns(*unit, begin_ns, end_ns) : 0;
  }
  return std::nullopt;
}

}  // namespace gputrace::simulated_gpu
