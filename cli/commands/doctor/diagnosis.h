// `gputrace doctor` apart from its command line: looks at a machine and says what a recording on it
// would get.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/ipc/control_message.h"
#include "daemon/os/gpu_device.h"
#include "daemon/os/machine_checks.h"
#include "daemon/os/register_findings.h"
#include "daemon/os/sensors/perf_event.h"
#include "kernels/vulkan/device_list.h"

namespace gputrace::commands {

/// A part of the output, in both forms. Each is made in a process of its own.
struct Section {
  std::string text;
  std::string json;
  bool can_record = false;  ///< of a GPU: a recording with registers is possible
  std::string why_not;
  bool is_asleep = false;  ///< of a GPU that can be recorded: only when somebody has woken it
};

/// All that a diagnosis asks of the world.
struct Surroundings {
  os::SystemRoots roots;
  std::function<os::MachineChecks()> check_machine;
  std::function<Result<ipc::StatusReply>()> ask_daemon;
  std::function<os::RegisterFindings(const os::GpuDevice&)> find_registers;
  os::PerfEventOpen open_perf_event;
  bool is_root = false;
  std::function<Result<std::vector<vulkan::ListedDevice>>()> list_vulkan;
  std::function<std::int64_t()> now_ns;
  /// Runs a section where a driver that crashes or hangs takes nothing else with it.
  std::function<Result<Section>(std::chrono::milliseconds, const std::function<Section()>&)>
      isolate;

  /// This machine.
  [[nodiscard]] static Surroundings of_system();
};

struct Diagnosis {
  std::string text;
  std::string json;
  bool can_record = false;
};

/// `gpu`: as --gpu takes it; empty = all. Fails when that names no GPU of this machine.
[[nodiscard]] Result<Diagnosis> diagnose(const Surroundings& world, std::string_view gpu);

/// The parts; `index` as `gputrace gpus` counts.
[[nodiscard]] Section machine_section(const Surroundings& world,
                                      const Result<ipc::StatusReply>& daemon);
[[nodiscard]] Section gpu_section(const Surroundings& world, std::size_t index,
                                  const os::GpuDevice& gpu, bool daemon_answers);
[[nodiscard]] Section vulkan_section(const Surroundings& world,
                                     const std::vector<os::GpuDevice>& gpus);

}  // namespace gputrace::commands
