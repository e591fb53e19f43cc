#include "tests/support/busy_signal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace gputrace::test {
namespace {

/// Where in its frames a phase is.
class Frames {
 public:
  Frames(const SignalPhase& phase, double start_s, SignalRandom& random)
      : phase_(phase), random_(random), end_s_(start_s) {
    if (phase_.fps > 0) {
      next_frame();
    }
  }

  /// The pass at a time; times rise.
  std::size_t pass_at(double at_s) {
    if (phase_.fps <= 0) {
      return 0;
    }
    while (at_s >= end_s_) {
      next_frame();
    }
    while (pass_ + 1 < ends_s_.size() && at_s >= ends_s_[pass_]) {
      ++pass_;
    }
    return pass_;
  }

 private:
  double jittered(double value) {
    return value * std::max(0.1, 1 + phase_.jitter * random_.normal());
  }
  void next_frame() {
    const double start_s = end_s_;
    end_s_ = start_s + jittered(1 / phase_.fps);
    std::vector<double> shares;
    double sum = 0;
    for (const SignalPass& pass : phase_.passes) {
      shares.push_back(jittered(pass.share));
      sum += shares.back();
    }
    ends_s_.clear();
    double so_far = 0;
    for (const double share : shares) {
      so_far += share / sum;
      ends_s_.push_back(start_s + so_far * (end_s_ - start_s));
    }
    pass_ = 0;
  }

  const SignalPhase& phase_;
  SignalRandom& random_;
  double end_s_;
  std::vector<double> ends_s_;
  std::size_t pass_ = 0;
};

/// Chains that take a new state at random moments (so correlation is exponential), from draws of
/// their own or from the common one.
class Chains {
 public:
  Chains(const BusySignal& signal, SignalRandom& random)
      : random_(random), common_(signal.common), busy_(signal.units.size()) {
    for (const double relaxation_ms : signal.relaxation_ms) {
      redraw_.push_back(1 - std::exp(-1000 / (signal.rate_hz * relaxation_ms)));
    }
  }

  void restart(const std::vector<double>& duty) {
    const double shared = random_.uniform();
    for (std::size_t u = 0; u < busy_.size(); ++u) {
      busy_[u] = (random_.uniform() < common_ ? shared : random_.uniform()) < duty[u];
    }
  }

  std::uint64_t step(const std::vector<double>& duty, double offset) {
    const double shared_moment = random_.uniform();
    const double shared_value = random_.uniform();
    std::uint64_t word = 0;
    for (std::size_t u = 0; u < busy_.size(); ++u) {
      const bool shared = common_ > 0 && random_.uniform() < common_;
      if ((shared ? shared_moment : random_.uniform()) < redraw_[u]) {
        const double wanted = duty[u] <= 0 ? 0 : std::clamp(duty[u] + offset, 0.0, 1.0);
        busy_[u] = (shared ? shared_value : random_.uniform()) < wanted;
      }
      word |= std::uint64_t{busy_[u] && duty[u] > 0} << u;
    }
    return word;
  }

 private:
  SignalRandom& random_;
  double common_;
  std::vector<double> redraw_;
  std::vector<bool> busy_;
};

/// Slow first-order wandering around 0, a step each 100 ms.
class Wandering {
 public:
  Wandering(const BusySignal& signal, SignalRandom& random)
      : sd_(signal.wander), keep_(std::exp(-0.1 / signal.wander_s)), random_(random) {}
  double at(double at_s) {
    while (sd_ > 0 && at_s >= next_s_) {
      value_ = keep_ * value_ + sd_ * std::sqrt(1 - keep_ * keep_) * random_.normal();
      next_s_ += 0.1;
    }
    return value_;
  }

 private:
  double sd_;
  double keep_;
  SignalRandom& random_;
  double value_ = 0;
  double next_s_ = 0;
};

/// Counts ticks into cells.
class Counter {
 public:
  Counter(std::size_t units, std::vector<std::vector<analysis::Cell>>& cells)
      : cells_(cells), last_(0), seen_(0), units_(units) {}
  void add(std::size_t cell, std::uint64_t busy, std::uint64_t valid) {
    for (std::size_t u = 0; u < units_; ++u) {
      const std::uint64_t bit = std::uint64_t{1} << u;
      if ((valid & bit) == 0) {
        continue;
      }
      analysis::Cell& counts = cells_[u][cell];
      ++counts.samples;
      counts.busy += (busy & bit) != 0 ? 1 : 0;
      counts.changes += (seen_ & bit) != 0 && ((busy ^ last_) & bit) != 0 ? 1 : 0;
    }
    last_ = (last_ & ~valid) | (busy & valid);
    seen_ |= valid;
  }

 private:
  std::vector<std::vector<analysis::Cell>>& cells_;
  std::uint64_t last_;
  std::uint64_t seen_;
  std::size_t units_;
};

/// Which ticks are not there, and of which nothing is known.
class Faults {
 public:
  Faults(const BusySignal& signal, SignalRandom& random) : signal_(signal), random_(random) {}
  bool missing() { return signal_.missing > 0 && random_.uniform() < signal_.missing; }
  bool unknown() {
    if (signal_.unknown <= 0) {
      return false;
    }
    const double leave = 1 / signal_.unknown_run;
    const double enter = leave * signal_.unknown / (1 - signal_.unknown);
    unknown_ = random_.uniform() < (unknown_ ? 1 - leave : enter);
    return unknown_;
  }

 private:
  const BusySignal& signal_;
  SignalRandom& random_;
  bool unknown_ = false;
};

std::uint64_t bits_of_other_registers(const std::vector<analysis::UnitKey>& units) {
  std::uint64_t bits = 0;
  for (std::size_t u = 0; u < units.size(); ++u) {
    bits |= std::uint64_t{units[u].register_name != units.front().register_name} << u;
  }
  return bits;
}

}  // namespace

double SignalRandom::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

GeneratedSource generate(const BusySignal& signal) {
  const std::size_t units = signal.units.size();
  GPUTRACE_CHECK(units > 0 && units <= analysis::kMaxGridUnits);
  GPUTRACE_CHECK(signal.relaxation_ms.size() == units);
  SignalRandom random(signal.seed);
  GeneratedSource source;
  source.units_ = signal.units;
  source.start_s_ = signal.start_s;
  source.cell_s_ = signal.cell_s;
  double total_s = 0;
  for (const SignalPhase& phase : signal.phases) {
    total_s += phase.seconds;
  }
  const auto cells = static_cast<std::size_t>(std::ceil(total_s / signal.cell_s - 1e-6));
  source.cells_.assign(units, std::vector<analysis::Cell>(cells));
  source.asleep_.resize(cells);
  source.unknown_.resize(cells);

  Chains chains(signal, random);
  Wandering wandering(signal, random);
  Faults faults(signal, random);
  Counter counter(units, source.cells_);
  const std::uint64_t all = units == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << units) - 1;
  const std::uint64_t others = bits_of_other_registers(signal.units);
  double phase_start_s = 0;
  double phase_end_s = 0;
  std::uint64_t tick = 0;
  const auto ticks = static_cast<std::uint64_t>(std::floor(total_s * signal.rate_hz + 1e-6));
  for (const SignalPhase& phase : signal.phases) {
    phase_start_s = std::exchange(phase_end_s, phase_end_s + phase.seconds);
    if (phase_start_s > 0) {
      source.true_changes_.push_back(signal.start_s + phase_start_s);
    }
    Frames frames(phase, phase_start_s, random);
    std::size_t pass = phase.passes.size();  // none yet
    for (; tick < ticks; ++tick) {
      // One random instant in each period; the next phase may begin before it.
      SignalRandom instant(signal.seed ^ (tick * 0xD1B54A32D192ED03U));
      const double at_s = (static_cast<double>(tick) + instant.uniform()) / signal.rate_hz;
      if (at_s >= phase_end_s) {
        break;
      }
      if (phase.power == SignalPower::kSuspended) {
        continue;
      }
      const std::size_t cell = std::min(cells - 1, static_cast<std::size_t>(at_s / signal.cell_s));
      analysis::Tick seen{.at_s = signal.start_s + at_s, .busy = 0, .valid = 0};
      if (phase.power == SignalPower::kAwake) {
        const std::size_t now = frames.pass_at(at_s);
        const std::vector<double>& duty = phase.passes[now].duty;
        if (std::exchange(pass, now) != now) {
          chains.restart(duty);
        }
        const double offset = wandering.at(at_s) + signal.drift_per_s * (at_s - phase_start_s);
        seen.busy = chains.step(duty, offset);
      }
      if (faults.missing()) {
        continue;
      }
      if (phase.power == SignalPower::kAsleep) {
        ++source.asleep_[cell];
      } else if (faults.unknown()) {
        ++source.unknown_[cell];
      } else {
        const bool with_others =
            signal.second_register >= 1 || random.uniform() < signal.second_register;
        seen.valid = with_others ? all : all & ~others;
        counter.add(cell, seen.busy, seen.valid);
      }
      seen.busy &= seen.valid;
      if (signal.keep_ticks) {
        source.ticks_.push_back(seen);
      }
    }
  }
  return source;
}

Result<analysis::BusyGrid> GeneratedSource::read(std::size_t first, std::size_t count) const {
  GPUTRACE_CHECK(first <= cells() && count <= cells() - first);
  const auto part = [&](const auto& all) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  analysis::BusyGrid grid;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    grid.units.push_back({units_[u], part(cells_[u])});
  }
  grid.asleep = part(asleep_);
  grid.unknown = part(unknown_);
  return grid;
}

Result<std::vector<analysis::Tick>> GeneratedSource::ticks(double from_s, double to_s) const {
  const auto at = [&](double time_s) {
    return std::lower_bound(
        ticks_.begin(), ticks_.end(), time_s,
        [](const analysis::Tick& tick, double limit_s) { return tick.at_s < limit_s; });
  };
  return std::vector(at(from_s), std::max(at(from_s), at(to_s)));
}

std::vector<analysis::UnitKey> signal_units() {
  constexpr std::array<std::pair<const char*, const char*>, 26> kUnits{{
      {"GRBM_STATUS2", "EA_BUSY"},    {"GRBM_STATUS3", "GL2CC_BUSY"},
      {"GRBM_STATUS3", "GL1CC_BUSY"}, {"GRBM_STATUS2", "TCP_BUSY"},
      {"GRBM_STATUS", "TA_BUSY"},     {"GRBM_STATUS3", "UTCL1_BUSY"},
      {"GRBM_STATUS", "GUI_ACTIVE"},  {"GRBM_STATUS", "SPI_BUSY"},
      {"GRBM_STATUS", "SX_BUSY"},     {"GRBM_STATUS", "BCI_BUSY"},
      {"GRBM_STATUS", "SC_BUSY"},     {"GRBM_STATUS", "PA_BUSY"},
      {"GRBM_STATUS", "DB_BUSY"},     {"GRBM_STATUS", "CB_BUSY"},
      {"GRBM_STATUS", "GE_BUSY"},     {"GRBM_STATUS", "GDS_BUSY"},
      {"GRBM_STATUS", "CP_BUSY"},     {"GRBM_STATUS", "CP_COHERENCY_BUSY"},
      {"GRBM_STATUS2", "RLC_BUSY"},   {"GRBM_STATUS2", "UTCL2_BUSY"},
      {"GRBM_STATUS2", "RMI_BUSY"},   {"GRBM_STATUS2", "SDMA_BUSY"},
      {"GRBM_STATUS2", "CPF_BUSY"},   {"GRBM_STATUS2", "CPC_BUSY"},
      {"GRBM_STATUS2", "CPG_BUSY"},   {"GRBM_STATUS3", "PH_BUSY"},
  }};
  std::vector<analysis::UnitKey> units;
  units.reserve(kUnits.size());
  for (const auto& [register_name, name] : kUnits) {
    units.push_back({register_name, name});
  }
  return units;
}

std::vector<SignalPass> gated(const std::vector<double>& duty, double open) {
  return {{.share = open, .duty = duty},
          {.share = 1 - open, .duty = std::vector<double>(duty.size())}};
}

}  // namespace gputrace::test
