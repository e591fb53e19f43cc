#include "cli/commands/doctor/diagnosis.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands/daemon_connection.h"
#include "cli/commands/doctor/doctor_text.h"
#include "cli/commands/doctor/isolated_call.h"
#include "daemon/base/time.h"
#include "daemon/os/other_drivers.h"
#include "regdb/register_database.h"

namespace gputrace::commands {
namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

// A source that answers takes milliseconds; the firmware's own time-outs are some seconds each.
constexpr std::chrono::milliseconds kMachineDeadline = 10s;
constexpr std::chrono::milliseconds kGpuDeadline = 10s;
constexpr std::chrono::milliseconds kVulkanDeadline = 10s;

std::string pack(const Section& section) {
  return Json{{"text", section.text},
              {"json", section.json},
              {"can_record", section.can_record},
              {"why_not", section.why_not},
              {"is_asleep", section.is_asleep}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Section> unpack(const std::string& packed) {
  const Json json = Json::parse(packed, nullptr, false);
  if (!json.is_object()) {
    return fail(ErrorCode::kCorrupt, "the process that looked gave no answer");
  }
  return Section{json.value("text", ""), json.value("json", "null"),
                 json.value("can_record", false), json.value("why_not", ""),
                 json.value("is_asleep", false)};
}

Result<ipc::StatusReply> ask_gputraced() {
  const Result<ipc::ControlClient> client = connect_to_daemon();
  if (!client) {
    return tl::unexpected(client.error());
  }
  Result<ipc::ReceivedReply> answer = client->ask(ipc::StatusRequest{});
  if (!answer) {
    return tl::unexpected(answer.error());
  }
  auto* status = std::get_if<ipc::StatusReply>(&answer->reply);
  if (status == nullptr) {
    return fail(ErrorCode::kCorrupt, "gputraced answered something else than its status");
  }
  return std::move(*status);
}

/// In the place of a section whose process did not get to its end.
Section lost_section(const std::string& title, const Error& error, const Json& json) {
  Section section;
  append_line(section.text, title, 2);
  append_row(section.text, Mark::kBroken, "examination", error.message);
  append_detail(section.text, "fix",
                "see the kernel's log (dmesg) for what its driver says; a reboot helps when the "
                "firmware has stopped answering");
  section.why_not = "examining it failed: " + error.message;
  Json object = json;
  object["can_record"] = false;
  object["why_not"] = section.why_not;
  section.json = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  return section;
}

std::string no_gpu_text(const os::SystemRoots& roots) {
  std::string text = "GPUs\n";
  append_row(
      text, Mark::kNone, "amdgpu",
      fmt::format("no GPU with the amdgpu driver in {}", (roots.sys / "class/drm").string()));
  const std::vector<os::OtherDriver> others = os::amd_gpus_of_other_drivers(roots);
  for (const os::OtherDriver& other : others) {
    append_row(text, Mark::kNo, other.pci,
               other.driver.empty() ? "an AMD GPU without a driver"
                                    : "an AMD GPU with the driver " + other.driver);
    append_detail(text, "fix",
                  other.driver.empty() ? "sudo modprobe amdgpu"
                  : other.driver == "radeon"
                      ? "boot with radeon.si_support=0 radeon.cik_support=0 amdgpu.si_support=1 "
                        "amdgpu.cik_support=1, if the chip is of GC 6 or 7"
                      : "");
  }
  return text;
}

std::string verdict(const std::vector<std::pair<std::size_t, Section>>& gpus, bool one_was_named) {
  std::size_t able = 0;
  std::string asleep;
  for (const auto& [index, section] : gpus) {
    able += section.can_record ? 1U : 0U;
    if (section.is_asleep) {
      asleep += fmt::format(
          " GPU {} sleeps: its registers are read from when a program wakes it, which gputrace "
          "does not.",
          index);
    }
  }
  if (gpus.empty()) {
    return "Nothing can be recorded here: there is no AMD GPU with the amdgpu driver.";
  }
  if (able > 0 && one_was_named) {
    return fmt::format("GPU {} can be recorded, with registers.", gpus.front().first) + asleep;
  }
  if (able > 0) {
    return (gpus.size() == 1 ? "The GPU can be recorded, with registers."
                             : fmt::format("{} of {} GPUs can be recorded, with registers.", able,
                                           gpus.size())) +
           asleep;
  }
  std::string text = "Nothing can be recorded now.";
  for (const auto& [index, section] : gpus) {
    text += fmt::format(" GPU {}: {}.", index, split_advice(section.why_not).reason);
  }
  return text;
}

/// The GPUs asked for, with their numbers among all.
Result<std::vector<std::pair<std::size_t, os::GpuDevice>>> chosen(
    const std::vector<os::GpuDevice>& gpus, std::string_view selector) {
  std::vector<std::pair<std::size_t, os::GpuDevice>> list;
  std::string wanted_card;
  if (!selector.empty()) {
    const Result<os::GpuDevice> gpu = os::select_gpu(gpus, selector);
    if (!gpu) {
      return tl::unexpected(gpu.error());
    }
    wanted_card = gpu->card;
  }
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (wanted_card.empty() || gpus[i].card == wanted_card) {
      list.emplace_back(i, gpus[i]);
    }
  }
  return list;
}

}  // namespace

Surroundings Surroundings::of_system() {
  Surroundings world;
  world.check_machine = os::check_machine;
  world.ask_daemon = ask_gputraced;
  world.find_registers = [](const os::GpuDevice& gpu) {
    return os::find_register_sources(gpu, regdb::RegisterDatabase::built_in(), {});
  };
  world.open_perf_event = os::open_perf_event;
  world.is_root = ::geteuid() == 0;
  world.list_vulkan = vulkan::list_devices;
  world.now_ns = monotonic_now_ns;
  world.isolate = [](std::chrono::milliseconds deadline, const std::function<Section()>& make) {
    const Result<std::string> packed = call_isolated(deadline, [&make] { return pack(make()); });
    return packed ? unpack(*packed) : Result<Section>(tl::unexpected(packed.error()));
  };
  return world;
}

Result<Diagnosis> diagnose(const Surroundings& world, std::string_view gpu) {
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(world.roots);
  if (!gpus) {
    return tl::unexpected(gpus.error());
  }
  const auto wanted = chosen(*gpus, gpu);
  if (!wanted) {
    return tl::unexpected(wanted.error());
  }
  const Result<ipc::StatusReply> daemon = world.ask_daemon();

  Result<Section> machine =
      world.isolate(kMachineDeadline, [&] { return machine_section(world, daemon); });
  if (!machine) {
    machine = lost_section("Machine", machine.error(), Json::object());
  }
  std::vector<std::pair<std::size_t, Section>> sections;
  for (const auto& [index, device] : *wanted) {
    Result<Section> section = world.isolate(kGpuDeadline, [&, number = index, &which = device] {
      return gpu_section(world, number, which, daemon.has_value());
    });
    sections.emplace_back(
        index,
        section ? std::move(*section)
                : lost_section(fmt::format("GPU {}: {} ({})", index, device.identity.name,
                                           device.identity.pci),
                               section.error(), {{"index", index}, {"pci", device.identity.pci}}));
  }
  Result<Section> vulkan =
      world.isolate(kVulkanDeadline, [&] { return vulkan_section(world, *gpus); });
  if (!vulkan) {
    vulkan = lost_section("Vulkan", vulkan.error(), {{"state", "broken"}});
  }

  Diagnosis diagnosis;
  Json list = Json::array();
  append_line(diagnosis.text, verdict(sections, !gpu.empty()), 0);
  diagnosis.text += "\n" + machine->text + "\n";
  for (const auto& [index, section] : sections) {
    diagnosis.can_record = diagnosis.can_record || section.can_record;
    diagnosis.text += section.text + "\n";
    list.push_back(Json::parse(section.json));
  }
  if (gpus->empty()) {
    diagnosis.text += no_gpu_text(world.roots) + "\n";
  }
  diagnosis.text += vulkan->text + "\n";
  append_line(diagnosis.text,
              "Without an AMD GPU, `gputrace record --gpu sim:780m` records a simulated one.", 0);
  Json vulkan_json = Json::parse(vulkan->json);
  vulkan_json.erase("can_record");
  diagnosis.json = Json{{"schema", "gputrace.doctor/1"},
                        {"can_record", diagnosis.can_record},
                        {"machine", Json::parse(machine->json)},
                        {"gpus", std::move(list)},
                        {"vulkan", std::move(vulkan_json)}}
                       .dump(2, ' ', false, Json::error_handler_t::replace) +
                   "\n";
  return diagnosis;
}

}  // namespace gputrace::commands
