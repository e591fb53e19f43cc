// A loaded scenario: the state of every unit at any time, the register words that show it, and the
// exact truth that a measurement of it is compared with. Shared by the in-process reader, the rig
// and the benches. Read-only after loading, so safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/sampler/register_reader.h"
#include "daemon/simulated_gpu/register_words.h"
#include "daemon/simulated_gpu/scenario.h"
#include "daemon/simulated_gpu/steady_signal.h"
#include "regdb/register_database.h"

namespace gputrace::simulated_gpu {

/// What an argument of --gpu names.
struct ChosenScenario {
  const SimulatedModel* model = nullptr;
  Scenario scenario;
};
/// `argument`: "sim:780m", "sim:780m:game" or "sim:780m:FILE.json". Computes nothing.
[[nodiscard]] Result<ChosenScenario> choose_scenario(std::string_view argument);

/// Times are nanoseconds since the scenario's begin. Before it (negative) the GPU is idle; after
/// its end it begins again.
class Simulation {
 public:
  /// `argument` as in choose_scenario(). The registers are those of the GPU's map that the model
  /// can show. `cache_folder` empty = no cache.
  static Result<Simulation> open(std::string_view argument, const regdb::RegisterDatabase& regdb,
                                 const std::filesystem::path& cache_folder);
  static Result<Simulation> load(const SimulatedModel& model, const Scenario& scenario,
                                 const regdb::RegisterMap& map,
                                 const std::filesystem::path& cache_folder);

  [[nodiscard]] const SimulatedModel& model() const { return model_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] bool loaded_from_cache() const { return loaded_from_cache_; }

  /// GRBM_STATUS, GRBM_STATUS_SE0..., GRBM_STATUS2, GRBM_STATUS3: as many as the GPU has.
  [[nodiscard]] const std::vector<sampler::OfferedRegister>& registers() const {
    return registers_;
  }
  [[nodiscard]] UnitMask state_at(std::int64_t time_ns) const;
  /// Word of registers()[index] in a state. The model merges the shader engines: all show the same.
  [[nodiscard]] std::uint32_t word(std::size_t index, UnitMask state) const {
    return words_[index].word(state);
  }

  /// Nanoseconds of [begin_ns, end_ns) in which the unit is busy. Exact.
  [[nodiscard]] std::int64_t busy_ns(Unit unit, std::int64_t begin_ns, std::int64_t end_ns) const;
  /// The same for a busy bit by name; 0 for one that the model never sets, absent for a register
  /// that is not offered or a field that is no busy bit of it.
  [[nodiscard]] std::optional<std::int64_t> busy_ns(std::string_view register_name,
                                                    std::string_view field_name,
                                                    std::int64_t begin_ns,
                                                    std::int64_t end_ns) const;

  /// Clock, power and throughput of a phase of scenario().phases.
  [[nodiscard]] const OperatingPoint& operating_point(std::size_t phase) const {
    return signals_[phases_[phase].signal].operating_point();
  }

 private:
  struct PlacedPhase {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::size_t signal = 0;
    std::uint64_t order = 0;
    std::array<std::int64_t, kUnitCount> busy_before_ns{};  ///< of a round, until begin_ns
  };

  Simulation(const SimulatedModel& model, const Scenario& scenario);
  void place_phases(const std::vector<std::size_t>& signal_of_phase);
  void offer_registers(const regdb::RegisterMap& map);
  /// Index of the phase that holds a time within a round.
  [[nodiscard]] std::size_t phase_at(std::int64_t round_ns) const;
  /// From the phase's begin to `x_ns` of the round.
  [[nodiscard]] std::int64_t busy_ns_in(const PlacedPhase& phase, Unit unit,
                                        std::int64_t x_ns) const;
  [[nodiscard]] std::int64_t busy_ns_until(Unit unit, std::int64_t end_ns) const;

  SimulatedModel model_;
  Scenario scenario_;
  bool loaded_from_cache_ = false;
  std::vector<SteadySignal> signals_;
  std::vector<PlacedPhase> phases_;
  std::int64_t duration_ns_ = 0;
  std::array<std::int64_t, kUnitCount> busy_in_round_ns_{};
  std::vector<sampler::OfferedRegister> registers_;
  std::vector<regdb::Register> register_fields_;
  std::vector<RegisterWords> words_;
};

}  // namespace gputrace::simulated_gpu
