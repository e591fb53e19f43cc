// gputrace gpus: which GPUs there are and what can be read from each.
#include <fmt/format.h>

#include <utility>

#include "cli/commands/arguments.h"
#include "cli/commands/command.h"
#include "cli/commands/gpus/gpus_output.h"
#include "daemon/os/register_source.h"
#include "daemon/os/sysfs.h"

namespace gputrace::commands {
namespace {

constexpr std::string_view kDescription =
    "Lists the AMD GPUs of this machine and what gputrace can read from each.\n"
    "\n"
    "GPUs are found in /sys: vendor AMD, driver amdgpu. Each GPU that is awake is\n"
    "opened to see which status registers this user may read, and how: the kernel's\n"
    "ioctl gives some to everybody, debugfs and the register BAR the others to root.\n"
    "A GPU that is asleep (runtime-suspended) is never woken: it is listed with what\n"
    "/sys says. The numbers, addresses and names are what --gpu of other commands\n"
    "takes.\n";

constexpr std::string_view kExamples =
    "\nExamples:\n"
    "  gputrace gpus\n"
    "  gputrace gpus --json\n"
    "  gputrace gpus --simulated\n"
    "\n"
    "Exit status: 0, also when there is no GPU; 1 when /sys cannot be read; 2 for a\n"
    "wrong command line.\n";

cxxopts::Options make_options() {
  cxxopts::Options options("gputrace gpus", std::string(kDescription));
  options.custom_help("[OPTIONS]");
  options.add_options()                                                                       //
      ("json", "Print JSON")                                                                  //
      ("simulated", "List the simulated GPUs and their scenarios instead of this machine's")  //
      ("h,help", "Show this help");
  return options;
}

/// Those that this GPU has: of its shader engines only when their number is known.
std::vector<std::string> root_registers(const regdb::RegisterMap& map,
                                        std::optional<unsigned> shader_engines) {
  std::vector<std::string> names;
  for (const regdb::Register& reg : map.registers) {
    const auto engine = os::number_after(reg.name, "GRBM_STATUS_SE");
    const bool exists = !engine || (shader_engines && *engine < *shader_engines);
    if (!reg.unprivileged && exists) {
      names.push_back(reg.name);
    }
  }
  return names;
}

void open_and_look(ListedGpu& gpu, const regdb::RegisterDatabase& regdb,
                   const os::SystemRoots& roots) {
  const auto opened = os::open_registers(gpu.device, os::RegisterSource::kAuto, regdb, roots);
  if (!opened) {
    gpu.not_opened = opened.error().message;
    return;
  }
  gpu.device.identity = opened->identity;
  gpu.device.shader_engines = opened->shader_engines;
  gpu.notes = opened->notes;
  const auto offered = opened->reader->registers();
  gpu.readable.emplace(offered.begin(), offered.end());
}

}  // namespace

ListedGpu inspect_gpu(os::GpuDevice device, const regdb::RegisterDatabase& regdb,
                      const os::SystemRoots& roots) {
  ListedGpu gpu;
  gpu.device = std::move(device);
  const bool known_unsupported =
      gpu.device.identity.gc && !regdb.map_for(*gpu.device.identity.gc).has_value();
  if (known_unsupported) {
    gpu.not_opened = "its status registers are not known";
  } else if (os::is_asleep(gpu.device.runtime_status)) {
    gpu.not_opened = "asleep; opening it would wake it";
  } else {
    open_and_look(gpu, regdb, roots);
  }
  if (!gpu.device.identity.gc) {
    return gpu;
  }
  const auto map = regdb.map_for(*gpu.device.identity.gc);
  if (map) {
    gpu.table = map->table;
    gpu.needs_root = root_registers(*map, gpu.device.shader_engines);
  } else {
    gpu.unsupported = map.error().message;
  }
  return gpu;
}

Result<int> run_gpus(const std::vector<std::string>& arguments) {
  cxxopts::Options options = make_options();
  const auto parsed = parse_arguments(options, arguments);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  if (parsed->count("help") != 0) {
    fmt::print("{}{}", options.help(), kExamples);
    return 0;
  }
  const bool json = parsed->count("json") != 0;
  if (parsed->count("simulated") != 0) {
    const auto listing = simulated_gpu::list_simulated_gpus();
    fmt::print("{}", json ? simulated_gpus_to_json(listing) : simulated_gpus_to_text(listing));
    return 0;
  }
  const os::SystemRoots roots;
  auto devices = os::list_gpus(roots);
  if (!devices) {
    return tl::unexpected(devices.error());
  }
  const auto regdb = regdb::RegisterDatabase::built_in();
  std::vector<ListedGpu> gpus;
  gpus.reserve(devices->size());
  for (os::GpuDevice& device : *devices) {
    gpus.push_back(inspect_gpu(std::move(device), regdb, roots));
  }
  fmt::print("{}", json ? gpus_to_json(gpus) : gpus_to_text(gpus));
  return 0;
}

}  // namespace gputrace::commands
