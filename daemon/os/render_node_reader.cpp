#include "daemon/os/render_node_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace gputrace::os {

namespace {

using sampler::OfferedRegister;
using sampler::SampleState;

// A device with a successful ioctl within kBusyNs and a look at runtime_status within kCheckNs is
// awake, so a tick at 1 kHz costs no file read: amdgpu_drm_ioctl marks the device busy at the end
// of each ioctl (pm_runtime_mark_last_busy, pm_runtime_put_autosuspend; amdgpu_drv.c), and the
// autosuspend delay that amdgpu_driver_load_kms sets is 5 s (amdgpu_kms.c). The second condition is
// for a delay that an administrator has made shorter (power/autosuspend_delay_ms), and for suspends
// that are not automatic. While it sleeps, one look per kCheckNs.
constexpr std::int64_t kBusyNs = 50 * kNsPerMs;
constexpr std::int64_t kCheckNs = 100 * kNsPerMs;

constexpr std::size_t kMaxCount = 128;  // of one READ_MMR_REG (amdgpu_kms.c)
static_assert(sampler::kMaxRegisters <= kMaxCount);

/// The device is gone for good: unplugged, driver unbound, or the server of a FUSE node dead.
bool is_gone(int error_number) {
  return error_number == ENODEV || error_number == ENXIO || error_number == ENOTCONN;
}

std::string call_text(std::uint32_t first_offset, const std::string& node) {
  return fmt::format("ioctl READ_MMR_REG of {:#06x} on {}", first_offset, node);
}

}  // namespace

std::vector<RegisterGroup> group_neighbours(std::span<const OfferedRegister> registers) {
  std::vector<std::size_t> by_offset(registers.size());
  std::iota(by_offset.begin(), by_offset.end(), std::size_t{0});
  std::sort(by_offset.begin(), by_offset.end(), [&](std::size_t one, std::size_t other) {
    return registers[one].dword_offset < registers[other].dword_offset;
  });
  std::vector<RegisterGroup> groups;
  for (const std::size_t slot : by_offset) {
    const std::uint32_t offset = registers[slot].dword_offset;
    if (groups.empty() || groups.back().first_offset + groups.back().slots.size() != offset) {
      groups.push_back({offset, {}});
    }
    groups.back().slots.push_back(slot);
  }
  return groups;
}

ProbeOutcome probe_registers(std::span<const OfferedRegister> registers,
                             const RenderNodeAccess& access) {
  ProbeOutcome outcome;
  std::vector<bool> accepted(registers.size());
  std::array<std::uint32_t, sampler::kMaxRegisters> words{};
  // ENOENT is a reset under way: the register itself is not refused.
  const auto answer = [&](std::uint32_t offset, std::size_t count) {
    const int error = access.read_registers(offset, std::span(words).first(count));
    return error == ENOENT ? 0 : error;
  };
  for (const RegisterGroup& group : group_neighbours(registers)) {
    const int group_error = answer(group.first_offset, group.slots.size());
    for (std::size_t i = 0; i < group.slots.size(); ++i) {
      int error = group_error;
      if (error == EFAULT && group.slots.size() > 1) {
        error = answer(group.first_offset + static_cast<std::uint32_t>(i), 1);
      }
      if (error != 0 && error != EFAULT) {
        outcome.error = error;
        return outcome;
      }
      accepted[group.slots[i]] = error == 0;
    }
  }
  for (std::size_t slot = 0; slot < registers.size(); ++slot) {
    (accepted[slot] ? outcome.accepted : outcome.refused).push_back(registers[slot]);
  }
  return outcome;
}

RenderNodeReader::RenderNodeReader(std::vector<OfferedRegister> registers, RenderNodeAccess access)
    : registers_(std::move(registers)),
      groups_(group_neighbours(registers_)),
      access_(std::move(access)) {
  GPUTRACE_CHECK(registers_.size() <= sampler::kMaxRegisters);
  refused_now_.reserve(groups_.size());
}

void RenderNodeReader::read(std::int64_t now_ns, sampler::ReadBuffer out) noexcept {
  if (sleeps(now_ns)) {
    std::fill(out.states.begin(), out.states.end(), SampleState::kAsleep);
    std::fill(out.cost_ns.begin(), out.cost_ns.end(), 0U);
    return;
  }
  for (const RegisterGroup& group : groups_) {
    read_group(group, out);
  }
  if (gone_errno_ != 0) {
    std::fill(out.states.begin(), out.states.end(), SampleState::kLost);
  }
}

void RenderNodeReader::keep_first() {
  if (registers_.size() > 1) {
    registers_.resize(1);
    groups_ = group_neighbours(registers_);
  }
}

bool RenderNodeReader::sleeps(std::int64_t now_ns) noexcept {
  const bool checked_lately = now_ns - last_check_ns_ < kCheckNs;
  const bool busy_lately = now_ns - last_success_.returned_ns < kBusyNs;
  if (checked_lately && (asleep_ || busy_lately)) {
    return asleep_;
  }
  last_check_ns_ = now_ns;
  asleep_ = access_.is_asleep();
  return asleep_;
}

void RenderNodeReader::read_group(const RegisterGroup& group, sampler::ReadBuffer out) noexcept {
  std::array<std::uint32_t, sampler::kMaxRegisters> words{};
  const std::int64_t start_ns = access_.now_ns();
  const int error =
      access_.read_registers(group.first_offset, std::span(words).first(group.slots.size()));
  const std::int64_t end_ns = access_.now_ns();
  SampleState state = SampleState::kValid;
  if (error == 0) {
    last_success_ = {start_ns, end_ns};
  } else {
    state = state_of_error(error, group.first_offset);
  }
  const auto cost_ns = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(end_ns - start_ns, 1, std::numeric_limits<std::uint32_t>::max()));
  for (std::size_t i = 0; i < group.slots.size(); ++i) {
    out.words[group.slots[i]] = words[i];
    out.states[group.slots[i]] = state;
    out.cost_ns[group.slots[i]] = cost_ns;
  }
}

SampleState RenderNodeReader::state_of_error(int error_number,
                                             std::uint32_t first_offset) noexcept {
  if (error_number == ENOENT) {
    return SampleState::kReset;
  }
  if (is_gone(error_number)) {
    gone_errno_ = error_number;
    return SampleState::kLost;
  }
  if (error_number == EFAULT) {
    if (std::find(refused_now_.begin(), refused_now_.end(), first_offset) == refused_now_.end()) {
      refused_now_.push_back(first_offset);
    }
    return SampleState::kLost;
  }
  last_failure_.store({error_number, first_offset});
  return SampleState::kReadError;
}

std::vector<sampler::LostRegister> RenderNodeReader::drop_lost() {
  std::vector<sampler::LostRegister> lost;
  std::vector<OfferedRegister> kept;
  std::vector<bool> drop(registers_.size(), gone_errno_ != 0);
  for (const RegisterGroup& group : groups_) {
    const bool refused = std::find(refused_now_.begin(), refused_now_.end(), group.first_offset) !=
                         refused_now_.end();
    for (const std::size_t slot : group.slots) {
      drop[slot] = drop[slot] || refused;
    }
  }
  for (std::size_t slot = 0; slot < registers_.size(); ++slot) {
    OfferedRegister& offered = registers_[slot];
    if (!drop[slot]) {
      kept.push_back(std::move(offered));
      continue;
    }
    std::string reason = gone_errno_ != 0 ? reason_gone() : reason_refused(offered.dword_offset);
    lost.push_back({std::move(offered.name), std::move(reason)});
  }
  registers_ = std::move(kept);
  groups_ = group_neighbours(registers_);
  refused_now_.clear();
  return lost;
}

/// The same for all registers, so that it can be said once.
std::string RenderNodeReader::reason_gone() const {
  return error_from_errno(gone_errno_, "ioctl READ_MMR_REG on " + access_.node).message +
         "; the GPU was unplugged or its driver unloaded, nothing more is recorded";
}

std::string RenderNodeReader::reason_refused(std::uint32_t offset) const {
  return error_from_errno(EFAULT, call_text(offset, access_.node)).message +
         "; the kernel no longer allows it, the other registers go on";
}

std::string RenderNodeReader::last_error() const {
  const Failure failure = last_failure_.load();
  if (failure.error_number == 0) {
    return {};
  }
  return error_from_errno(failure.error_number, call_text(failure.first_offset, access_.node))
      .message;
}

}  // namespace gputrace::os
