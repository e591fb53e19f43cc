#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "cli/commands/gpus/gpus_output.h"
#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kValueColumn = 18;

void append_wrapped(std::string& text, std::string_view words, std::size_t indent) {
  for (const std::string& line : report::wrap(words, kWidth, indent)) {
    text += line + "\n";
  }
}

/// "   State          active". Names come from boards and kernels, so values are escaped.
void append_row(std::string& text, std::string_view label, std::string_view value) {
  append_wrapped(text,
                 fmt::format("   {:<{}}{}", label, kValueColumn - 3,
                             report::escape_for_terminal(value, false)),
                 kValueColumn);
}

std::string pci_in_words(const sampler::GpuIdentity& gpu) {
  std::string text = gpu.pci.empty() ? "address unknown" : gpu.pci;
  if (gpu.vendor_id && gpu.device_id) {
    text += fmt::format(", {:04x}:{:04x}", *gpu.vendor_id, *gpu.device_id);
  }
  if (gpu.revision_id) {
    text += fmt::format(" revision {:02x}", *gpu.revision_id);
  }
  return text;
}

std::string core_in_words(const ListedGpu& gpu) {
  const auto& gc = gpu.device.identity.gc;
  if (!gc) {
    return "not known before the render node is open";
  }
  std::string text = "GC " + regdb::to_string(*gc);
  text += gpu.table ? ", register table " + *gpu.table : ", unsupported: " + gpu.unsupported;
  if (gpu.device.shader_engines) {
    text += fmt::format(", {} shader engine{}", *gpu.device.shader_engines,
                        *gpu.device.shader_engines == 1 ? "" : "s");
  }
  return text;
}

std::string state_in_words(const os::GpuDevice& device) {
  std::string text = device.runtime_status.empty() ? "unknown" : device.runtime_status;
  if (device.boot_vga) {
    text += ", the GPU that the machine booted with";
  }
  return text;
}

/// "GRBM_STATUS, GRBM_STATUS2 (drm ioctl); GRBM_STATUS3 (debugfs regs2)".
std::string readable_in_words(const ListedGpu& gpu) {
  if (!gpu.readable) {
    return "nothing now: " + gpu.not_opened;
  }
  std::string text;
  std::string_view source;
  for (const sampler::OfferedRegister& reg : *gpu.readable) {
    if (reg.source != source) {
      text += source.empty() ? "" : fmt::format(" ({}); ", source);
      source = reg.source;
    } else {
      text += ", ";
    }
    text += reg.name;
  }
  return text + fmt::format(" ({})", source);
}

/// Those that only root may read and that this user's recording lacks.
std::vector<std::string> lacking(const ListedGpu& gpu) {
  std::vector<std::string> names;
  for (const std::string& name : gpu.needs_root) {
    const bool is_read =
        gpu.readable && std::any_of(gpu.readable->begin(), gpu.readable->end(),
                                    [&](const auto& reg) { return reg.name == name; });
    if (!is_read) {
      names.push_back(name);
    }
  }
  return names;
}

void append_gpu(std::string& text, std::size_t index, const ListedGpu& gpu) {
  const os::GpuDevice& device = gpu.device;
  append_wrapped(
      text, fmt::format("{}: {}", index, report::escape_for_terminal(device.identity.name, false)),
      3);
  append_row(text, "PCI", pci_in_words(device.identity));
  append_row(
      text, "Device",
      fmt::format("{}, {}, driver {}", device.card,
                  device.render_node_name.empty() ? "no render node" : device.render_node_name,
                  device.identity.driver));
  append_row(text, "Graphics core", core_in_words(gpu));
  append_row(text, "State", state_in_words(device));
  append_row(text, "Readable now", readable_in_words(gpu));
  if (const std::vector<std::string> names = lacking(gpu); !names.empty()) {
    append_row(text, "Needs root", fmt::format("{}", fmt::join(names, ", ")));
  }
  for (const std::string& note : gpu.notes) {
    append_row(text, "Note", note);
  }
}

}  // namespace

std::string gpus_to_text(std::span<const ListedGpu> gpus) {
  if (gpus.empty()) {
    return "No AMD GPU with the amdgpu driver was found in /sys/class/drm.\n"
           "`gputrace gpus --simulated` lists GPUs that gputrace can simulate.\n";
  }
  std::string text;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    append_gpu(text, i, gpus[i]);
    text += "\n";
  }
  text += "--gpu takes the number, PCI address, card, render node or part of the name.\n";
  return text;
}

/// Each simulated GPU plays every scenario, so both lists stand once instead of their product.
std::string simulated_gpus_to_text(SimulatedGpus gpus) {
  std::string models;
  std::string scenarios;
  std::string_view last_name;
  for (const simulated_gpu::SimulatedGpuListing& gpu : gpus) {
    const std::size_t colon = gpu.argument.rfind(':');
    if (gpu.gpu_name != last_name) {
      models += fmt::format("  {:<14}{}\n", gpu.argument.substr(0, colon), gpu.gpu_name);
      last_name = gpu.gpu_name;
    }
    if (gpu.gpu_name == gpus.front().gpu_name) {
      append_wrapped(scenarios,
                     fmt::format("  {:<14}{:g} s: {}", gpu.argument.substr(colon + 1), gpu.length_s,
                                 gpu.description),
                     16);
    }
  }
  return "SIMULATED GPUs for --gpu. No hardware is read, and every output says so.\n\n" + models +
         "\nScenarios, for --gpu sim:GPU:SCENARIO (default: demo). Each begins again when it\n"
         "has ended. sim:GPU:FILE.json plays a scenario of your own.\n\n" +
         scenarios;
}

}  // namespace gputrace::commands
