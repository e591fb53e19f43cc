#include "cli/import/amdgpu_top_clients.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace gputrace::import {

namespace {

constexpr std::size_t kMaxClients = 20'000;
/// More than 16 queues at once: a broken number.
constexpr double kMaxPercent = 1600;
constexpr double kMaxMiB = 1e9;

/// Engines as fdinfo names them. amdgpu_top's Decode and Encode are means over their queues; from
/// VCN 4 on one queue does both, and the kernel calls it enc.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kEngines{{
    {"GFX", "gfx"},
    {"Compute", "compute"},
    {"DMA", "dma"},
    {"Decode", "dec"},
    {"Encode", "enc"},
    {"VCN_Unified", "enc"},
    {"VCN_JPEG", "jpeg"},
    {"VPE", "vpe"},
}};

std::optional<std::uint64_t> bytes_of(const AmdgpuTopValue& value) {
  if (!value.value || value.unit != "MiB" || *value.value < 0 || *value.value > kMaxMiB) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(std::llround(*value.value)) << 20U;
}

void take_usage(const AmdgpuTopProcess& process, double window_ns, store::ClientUsage& client) {
  client.vram_bytes.reset();
  client.gtt_bytes.reset();
  for (const AmdgpuTopValue& value : process.usage) {
    if (value.name == "VRAM") {
      client.vram_bytes = bytes_of(value);
    } else if (value.name == "GTT") {
      client.gtt_bytes = bytes_of(value);
    }
    const auto* engine = std::find_if(kEngines.begin(), kEngines.end(), [&value](const auto& one) {
      return one.first == value.name;
    });
    if (engine != kEngines.end() && value.value && value.unit == "%" && *value.value >= 0 &&
        *value.value <= kMaxPercent) {
      client.engine_ns[std::string(engine->second)] +=
          static_cast<std::uint64_t>(std::llround(*value.value / 100 * window_ns));
    }
  }
}

}  // namespace

Status AmdgpuTopClients::add(const AmdgpuTopDevice& device, const AmdgpuTopClock::Window& window) {
  const auto window_ns = static_cast<double>(window.end_ns - window.start_ns);
  std::vector<store::ClientUsage*> seen;
  for (const AmdgpuTopProcess& process : device.processes) {
    const auto known = clients_.find(process.pid);
    if (known == clients_.end() && clients_.size() == kMaxClients) {
      ++left_out_;
      continue;
    }
    store::ClientUsage& client = clients_[process.pid];
    client.process = process.name;
    if (known == clients_.end()) {
      client.pid = process.pid;
      client.pdev = device.pci;
      client.client_id = static_cast<std::uint64_t>(process.pid);
      take_usage(process, 0, client);
      client.time_ns = window.start_ns;
      if (Status status = sink_.add_client_usage(client); !status) {
        return status;
      }
    }
    take_usage(process, window_ns, client);
    client.time_ns = window.end_ns;
    seen.push_back(&client);
  }
  for (const store::ClientUsage* client : seen) {
    if (Status status = sink_.add_client_usage(*client); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace gputrace::import
