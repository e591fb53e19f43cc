// Which GPU the workload really uses, from the engine times of its DRM clients.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "daemon/ipc/message.h"

namespace gputrace::commands {

/// A program may open every GPU and use one: Vulkan's loader does. So opening says nothing, and
/// work does: the gfx and compute time of the clients that grows. Another GPU than the recorded one
/// is the workload's when in two readings in a row its clients worked at least 1 % of the time, and
/// ten times as much as those on the recorded GPU.
class GpuChoice {
 public:
  /// `recorded`: PCI address.
  explicit GpuChoice(std::string recorded) : recorded_(std::move(recorded)) {}

  /// Each reading, in order of time. Returns the GPU that the workload uses instead of the recorded
  /// one, each time that is so.
  [[nodiscard]] std::optional<std::string> take(const ipc::ProcessesOrder& reading);
  /// From now on this one is recorded.
  void switched_to(const std::string& pdev);
  [[nodiscard]] const std::string& recorded() const { return recorded_; }

 private:
  using Client = std::pair<std::string, std::uint64_t>;  ///< device and client id

  std::string recorded_;
  std::map<Client, std::uint64_t> busy_ns_;  ///< of the clients, at the reading before
  std::optional<std::int64_t> last_ns_;
  std::string candidate_;  ///< of the reading before; empty = none
};

}  // namespace gputrace::commands
