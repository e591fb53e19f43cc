#include "daemon/os/sleeping_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/os/render_node.h"
#include "daemon/os/runtime_status.h"

namespace gputrace::os {

namespace {

using sampler::OfferedRegister;

// As often as the reader of the render node looks while its device sleeps.
constexpr std::int64_t kLookNs = 100 * kNsPerMs;

// How many shader engines there are, and what else this process may read, shows only when it wakes.
constexpr std::array kRegisters{"GRBM_STATUS", "GRBM_STATUS2"};

}  // namespace

SleepingReader::SleepingReader(std::vector<OfferedRegister> registers,
                               std::function<bool()> is_asleep)
    : registers_(std::move(registers)), is_asleep_(std::move(is_asleep)) {
  GPUTRACE_CHECK(registers_.size() <= sampler::kMaxRegisters);
}

void SleepingReader::read(std::int64_t /*now_ns*/, sampler::ReadBuffer out) noexcept {
  std::fill(out.states.begin(), out.states.end(), sampler::SampleState::kAsleep);
  std::fill(out.cost_ns.begin(), out.cost_ns.end(), 0U);
}

bool SleepingReader::is_over(std::int64_t now_ns) noexcept {
  if (over_ || now_ns - last_look_ns_ < kLookNs) {
    return over_;
  }
  last_look_ns_ = now_ns;
  over_ = !is_asleep_();
  return over_;
}

Result<SleepingGpu> open_sleeping_gpu(const GpuDevice& gpu, const regdb::RegisterDatabase& regdb) {
  if (const Status openable = check_render_node(gpu); !openable) {
    return tl::unexpected(openable.error());
  }
  const std::optional<regdb::GcVersion>& gc = gpu.identity.gc;
  if (!gc) {
    return fail(
        ErrorCode::kBusy,
        fmt::format("{} ({}) is asleep, and what graphics core it has shows only when it is "
                    "opened, which would wake it: sysfs has no ip_discovery of it. Start "
                    "the program that uses it first, or name another GPU",
                    gpu.identity.name, gpu.identity.pci));
  }
  const Result<regdb::RegisterMap> map = regdb.map_for(*gc);
  if (!map) {
    return fail(map.error(), "cannot read " + gpu.render_node.string());
  }
  std::vector<OfferedRegister> offered;
  for (const char* name : kRegisters) {
    if (const regdb::Register* reg = map->find(name)) {
      offered.push_back({reg->name, reg->dword_offset, "runtime_status"});
    }
  }
  return SleepingGpu{
      gpu.identity, map->table,
      std::make_unique<SleepingReader>(std::move(offered),
                                       [status = std::make_shared<RuntimeStatus>(gpu.device_dir)] {
                                         return status->look() == PowerState::kAsleep;
                                       })};
}

}  // namespace gputrace::os
