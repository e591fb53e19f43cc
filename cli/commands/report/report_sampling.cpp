#include "cli/commands/report/report_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cli/commands/report/report_units.h"
#include "cli/report/text_format.h"
#include "daemon/sampler/lateness.h"

namespace gputrace::commands {
namespace {

using sampler::SampleState;
using store::StoredSegment;

/// GFXOFF stays away for 100 ms after each read through the driver (amdgpu_gfx.c).
constexpr double kGfxoffRateHz = 10;
constexpr int kUnprivilegedEngines = 4;

using States = std::array<std::uint64_t, 8>;

std::uint64_t count_unknown(const States& states) {
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    unknown += sampler::is_unknown(static_cast<SampleState>(i)) ? states[i] : 0;
  }
  return unknown;
}

std::uint64_t count_all(const States& states) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : states) {
    all += count;
  }
  return all;
}

std::map<std::string, std::uint64_t> reasons_of(const States& states) {
  std::map<std::string, std::uint64_t> reasons;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto state = static_cast<SampleState>(i);
    if (sampler::is_unknown(state) && states[i] > 0) {
      reasons[std::string(sampler::reason_name(state))] = states[i];
    }
  }
  return reasons;
}

/// Samples, unknown and asleep ones, from the register with most unknown ones.
void add_states(const std::vector<store::SessionReader::StateCounts>& counts, double shown_s,
                bool imported, report::Sampling& sampling) {
  std::uint64_t samples = 0;
  std::uint64_t most_unknown = 0;
  for (const store::SessionReader::StateCounts& reg : counts) {
    const std::uint64_t unknown = count_unknown(reg.by_state);
    samples = std::max(samples, count_all(reg.by_state));
    if (unknown > most_unknown) {
      most_unknown = unknown;
      sampling.unknown_reasons = reasons_of(reg.by_state);
    }
  }
  sampling.samples = samples;
  sampling.unknown = most_unknown;
  sampling.asleep_share = imported ? std::nullopt : asleep_share_of(counts);
  if (const std::optional<double>& share = sampling.asleep_share) {
    sampling.asleep_s = *share * shown_s;
  }
}

void add_totals(const StoredSegment& segment, report::Sampling& sampling) {
  const sampler::SamplingTotals& totals = segment.totals;
  sampling.ticks = totals.ticks;
  sampling.missed = totals.missed;
  sampling.dropped = totals.dropped_ticks;
  sampling.late_p50_us = sampler::lateness_quantile_us(totals.lateness, 0.5);
  sampling.late_p99_us = sampler::lateness_quantile_us(totals.lateness, 0.99);
  sampling.cpu_s = static_cast<double>(totals.cpu_ns) / 1e9;
  const std::uint64_t periods = totals.ticks + totals.missed;
  if (periods > 0 && sampling.rate_hz) {  // a period is 1 / rate long, with a read or without
    sampling.achieved_hz =
        *sampling.rate_hz * static_cast<double>(totals.ticks) / static_cast<double>(periods);
  }
}

/// A sleeping GPU is not read at all, so nothing keeps it awake.
bool has_valid_sample(const std::vector<store::SessionReader::StateCounts>& counts) {
  return std::any_of(counts.begin(), counts.end(), [](const auto& reg) {
    return reg.by_state[static_cast<std::size_t>(SampleState::kValid)] > 0;
  });
}

bool goes_through_driver(const sampler::OfferedRegister& reg) {
  return reg.source.rfind("drm", 0) == 0;
}

std::vector<std::string> busy_names(const regdb::Register& reg) {
  std::vector<std::string> names;
  for (const regdb::RegisterField& field : reg.fields) {
    if (field.kind == regdb::FieldKind::kBusy) {
      names.push_back(field.name);
    }
  }
  return names;
}

/// Why a register of the GPU has no busy fractions; absent when it has them, or when the GPU has
/// no such register.
std::optional<std::string> reason_unknown(
    const regdb::Register& reg, const StoredSegment& segment,
    const std::vector<store::SessionReader::StateCounts>& states, bool imported) {
  const std::vector<sampler::OfferedRegister>& offered = segment.description.registers;
  for (std::size_t i = 0; i < offered.size(); ++i) {
    if (offered[i].name != reg.name) {
      continue;
    }
    const States counts = i < states.size() ? states[i].by_state : States{};
    if (counts[static_cast<std::size_t>(SampleState::kValid)] > 0 || count_all(counts) == 0) {
      return std::nullopt;
    }
    std::string reasons;
    for (const auto& [reason, count] : reasons_of(counts)) {
      reasons +=
          fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason, report::format_count(count));
    }
    if (reasons.empty()) {
      return "the GPU was asleep in all samples";
    }
    if (const std::uint64_t asleep = counts[static_cast<std::size_t>(SampleState::kAsleep)]) {
      reasons += fmt::format(", asleep {}", report::format_count(asleep));
    }
    return fmt::format("no valid sample ({})", reasons);
  }
  if (imported || reg.unprivileged) {
    return std::nullopt;  // not in the file; or a shader engine that this GPU does not have
  }
  const std::optional<int> engine = shader_engine_of(reg.name);
  const bool may_have_engine =
      std::any_of(offered.begin(), offered.end(), [](const sampler::OfferedRegister& other) {
        return shader_engine_of(other.name) == kUnprivilegedEngines - 1;
      });
  if (engine && !may_have_engine) {
    return std::nullopt;
  }
  return "the kernel lets only root read it; gputraced and sudo gputrace record do";
}

}  // namespace

std::optional<double> asleep_share_of(
    const std::vector<store::SessionReader::StateCounts>& counts) {
  std::uint64_t samples = 0;
  std::uint64_t asleep = 0;
  for (const store::SessionReader::StateCounts& reg : counts) {
    samples = std::max(samples, count_all(reg.by_state));
    asleep = std::max(asleep, reg.by_state[static_cast<std::size_t>(SampleState::kAsleep)]);
  }
  return samples == 0 ? std::nullopt
                      : std::optional(static_cast<double>(asleep) / static_cast<double>(samples));
}

report::Sampling sampling_of(const StoredSegment& segment,
                             const std::vector<store::SessionReader::StateCounts>& states,
                             double shown_s, bool imported) {
  report::Sampling sampling;
  sampling.rate_hz = segment.description.rate_hz;
  add_states(states, shown_s, imported, sampling);
  const std::uint64_t samples = sampling.samples.value_or(0);
  if (!imported) {
    add_totals(segment, sampling);
  } else if (shown_s > 0 && samples > 1) {  // a lone sample has no distance to another
    sampling.achieved_hz = static_cast<double>(samples) / shown_s;
  }
  const std::vector<sampler::OfferedRegister>& registers = segment.description.registers;
  for (std::size_t i = 0; i < registers.size(); ++i) {
    report::SampledRegister reg{registers[i].name, registers[i].source, std::nullopt};
    if (i < segment.totals.reads.size() && segment.totals.reads[i] > 0) {
      reg.read_cost_ns = static_cast<double>(segment.totals.read_cost_ns[i]) /
                         static_cast<double>(segment.totals.reads[i]);
    }
    sampling.registers.push_back(std::move(reg));
  }
  if (!imported && !segment.description.gpu.simulated) {
    sampling.kept_gfx_awake = sampling.achieved_hz.value_or(0) > kGfxoffRateHz &&
                              has_valid_sample(states) &&
                              std::any_of(registers.begin(), registers.end(), goes_through_driver);
  }
  return sampling;
}

std::vector<report::UnknownRegister> unknown_registers(
    const regdb::RegisterMap& map, const StoredSegment& segment,
    const std::vector<store::SessionReader::StateCounts>& states, bool imported) {
  std::vector<report::UnknownRegister> unknown;
  for (const regdb::Register& reg : map.registers) {
    if (auto reason = reason_unknown(reg, segment, states, imported)) {
      unknown.push_back({reg.name, std::move(*reason), busy_names(reg)});
    }
  }
  return unknown;
}

}  // namespace gputrace::commands
