#include "daemon/os/sensors/amd_df.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "daemon/os/sensors/pmu_folder.h"
#include "daemon/os/sensors/pmu_reader.h"
#include "daemon/os/sensors/processor.h"

namespace gputrace::os {

namespace {

constexpr std::string_view kName = "pmu amd_df";
constexpr std::string_view kLoses = "how many bytes go to and from memory";
constexpr double kBytesPerCount = 64;
constexpr double kMostBytesPerSecond = 1e12;
// From one channel's event to that of the next (all of the tables below).
constexpr std::uint64_t kNextChannel = 0x40;

struct FabricSeries {
  std::string_view sensor;
  std::uint64_t umask = 0;
};

struct FabricEvents {
  std::string_view event;  // as perf names it, with the channel's number at the end
  std::uint64_t code = 0;  // of channel 0
  std::span<const FabricSeries> series;
  std::string_view covers;
};

constexpr std::string_view kWholeMachine = "whole machine: CPU and GPU together";

// tools/perf/pmu-events/arch/x86/amdzen3/data-fabric.json: requests with data of 64 bytes.
constexpr std::array<FabricSeries, 1> kTogether{{{"dram_traffic", 0x38}}};
constexpr FabricEvents kZen1To3{"dram_channel_data_controller_", 0x07, kTogether, kWholeMachine};

// amdzen4/data-fabric.json counts what the processor itself reads and writes; whether an integrated
// GPU is part of it is not said anywhere.
constexpr std::array<FabricSeries, 2> kZen4Series{{{"dram_read", 0x7fe}, {"dram_write", 0x7ff}}};
constexpr FabricEvents kZen4{"local_processor_data_beats_cs", 0x1f, kZen4Series,
                             "whole machine; perhaps without the GPU"};

// amdzen5/data-fabric.json.
constexpr std::array<FabricSeries, 2> kZen5Series{{{"dram_read", 0xffe}, {"dram_write", 0xfff}}};
constexpr FabricEvents kZen5{"local_or_remote_socket_data_beats_dram_", 0x1f, kZen5Series,
                             kWholeMachine};

struct Fabric {
  const FabricEvents* events = nullptr;
  unsigned channels = 2;  // of one die; what a client's other channel numbers count is not known
  bool is_server = false;
};

constexpr bool in(unsigned value, unsigned first, unsigned last) {
  return value >= first && value <= last;
}

/// Models as in init_amd_zen*() of arch/x86/kernel/cpu/amd.c.
std::optional<Fabric> fabric_of(const Processor& cpu) {
  if (cpu.vendor != "AuthenticAMD") {
    return std::nullopt;
  }
  if (cpu.family == 0x17) {
    return cpu.model == 0x31 ? Fabric{&kZen1To3, 8, true} : Fabric{&kZen1To3};
  }
  if (cpu.family == 0x19) {
    if (in(cpu.model, 0x00, 0x0f)) {
      return Fabric{&kZen1To3, 8, true};
    }
    if (in(cpu.model, 0x20, 0x2f) || in(cpu.model, 0x40, 0x5f)) {
      return Fabric{&kZen1To3};
    }
    if (in(cpu.model, 0x10, 0x1f) || in(cpu.model, 0xa0, 0xaf)) {
      return Fabric{&kZen4, 12, true};
    }
    if (in(cpu.model, 0x60, 0x7f)) {
      return Fabric{&kZen4};
    }
  }
  if (cpu.family == 0x1a) {
    if (in(cpu.model, 0x00, 0x1f)) {
      return Fabric{&kZen5, 12, true};
    }
    if (in(cpu.model, 0x20, 0x4f) || in(cpu.model, 0x60, 0x7f)) {
      return Fabric{&kZen5};
    }
  }
  return std::nullopt;
}

sampler::SensorDescription describe(const Fabric& fabric, const FabricSeries& series) {
  sampler::SensorDescription sensor;
  sensor.name = series.sensor;
  sensor.source = fmt::format("{} {}* umask {:#x}", kName, fabric.events->event, series.umask);
  sensor.unit = "bytes";
  sensor.kind = sampler::SensorKind::kCounter;
  sensor.covers = fabric.events->covers;
  if (!fabric.is_server) {
    sensor.decision =
        "these events are documented for servers; on client processors and APUs they are "
        "unverified";
  }
  return sensor;
}

}  // namespace

OpenedSensors open_amd_df(const SystemRoots& roots, const PerfEventOpen& open) {
  const Result<PmuFolder> pmu = open_pmu_folder(roots, "amd_df");
  if (!pmu) {
    return pmu_not_usable(std::string(kName), pmu.error(), std::string(kLoses));
  }
  const std::optional<Processor> processor = read_processor(roots);
  const std::optional<Fabric> fabric = processor ? fabric_of(*processor) : std::nullopt;
  if (!fabric) {
    const std::string who = processor
                                ? fmt::format("{} family {:#x} model {:#x}", processor->vendor,
                                              processor->family, processor->model)
                                : "this processor";
    return pmu_not_usable(std::string(kName),
                          {ErrorCode::kUnsupported,
                           fmt::format("which events of {} are memory traffic on {} is not known",
                                       pmu->folder.string(), who)},
                          std::string(kLoses));
  }
  PmuSource source;
  source.name = kName;
  source.loses = kLoses;
  for (const FabricSeries& series : fabric->events->series) {
    for (unsigned channel = 0; channel < fabric->channels; ++channel) {
      const std::array terms{PmuTerm{"event", fabric->events->code + kNextChannel * channel},
                             PmuTerm{"umask", series.umask}};
      const Result<PerfEvent> event = encode(*pmu, terms);
      if (!event) {
        return pmu_not_usable(std::string(kName), event.error(), std::string(kLoses));
      }
      for (const int cpu : pmu->cpus) {
        source.counters.push_back({fmt::format("amd_df {}{}", fabric->events->event, channel),
                                   *event, cpu, source.sensors.size(), kBytesPerCount,
                                   kMostBytesPerSecond});
      }
    }
    source.sensors.push_back(describe(*fabric, series));
  }
  return open_pmu_source(std::move(source), open, roots);
}

}  // namespace gputrace::os
