// The reading half of the render node, apart from libdrm: groups, errno, sleep. Internal to
// daemon/os; tests give it functions instead of a device.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "daemon/sampler/register_reader.h"

namespace gputrace::os {

/// What the reader does to the world. None may allocate or throw when called.
struct RenderNodeAccess {
  /// Reads consecutive registers in one ioctl; 0 or an errno.
  std::function<int(std::uint32_t dword_offset, std::span<std::uint32_t> words)> read_registers;
  /// Reads power/runtime_status, which wakes nothing.
  std::function<bool()> is_asleep;
  /// CLOCK_MONOTONIC.
  std::function<std::int64_t()> now_ns;
  std::string node;  ///< path, for messages
};

/// Registers that one call reads: neighbours by offset. `slots` are indices in the order given.
struct RegisterGroup {
  std::uint32_t first_offset = 0;
  std::vector<std::size_t> slots;  ///< slots[i] is at first_offset + i
};
[[nodiscard]] std::vector<RegisterGroup> group_neighbours(
    std::span<const sampler::OfferedRegister> registers);

/// Which of the registers this kernel reads now. EFAULT means that one of a group is not in its
/// list, so the group is then tried one by one. An errno that ends the attempt is in `error`.
struct ProbeOutcome {
  std::vector<sampler::OfferedRegister> accepted;
  std::vector<sampler::OfferedRegister> refused;
  int error = 0;
};
[[nodiscard]] ProbeOutcome probe_registers(std::span<const sampler::OfferedRegister> registers,
                                           const RenderNodeAccess& access);

class RenderNodeReader final : public sampler::RegisterReader {
 public:
  static constexpr std::int64_t kLongAgo = std::numeric_limits<std::int64_t>::min() / 2;

  RenderNodeReader(std::vector<sampler::OfferedRegister> registers, RenderNodeAccess access);

  [[nodiscard]] std::span<const sampler::OfferedRegister> registers() const noexcept override {
    return registers_;
  }
  void read(std::int64_t now_ns, sampler::ReadBuffer out) noexcept override;
  [[nodiscard]] std::vector<sampler::LostRegister> drop_lost() override;
  [[nodiscard]] std::string last_error() const override;

  /// Offers the first register alone: one call a tick, for who needs the call and not the words.
  void keep_first();

  struct Call {
    std::int64_t called_ns = kLongAgo;
    std::int64_t returned_ns = kLongAgo;
  };
  /// The latest ioctl that succeeded.
  [[nodiscard]] const Call& last_success() const noexcept { return last_success_; }

 private:
  [[nodiscard]] bool sleeps(std::int64_t now_ns) noexcept;
  void read_group(const RegisterGroup& group, sampler::ReadBuffer out) noexcept;
  [[nodiscard]] sampler::SampleState state_of_error(int error_number,
                                                    std::uint32_t first_offset) noexcept;
  [[nodiscard]] std::string reason_gone() const;
  [[nodiscard]] std::string reason_refused(std::uint32_t offset) const;

  std::vector<sampler::OfferedRegister> registers_;
  std::vector<RegisterGroup> groups_;
  RenderNodeAccess access_;

  Call last_success_;
  std::int64_t last_check_ns_ = kLongAgo;
  bool asleep_ = false;

  int gone_errno_ = 0;                      ///< of the whole device
  std::vector<std::uint32_t> refused_now_;  ///< first offsets of groups refused in mid-run

  struct Failure {
    std::int32_t error_number = 0;
    std::uint32_t first_offset = 0;
  };
  std::atomic<Failure> last_failure_{};  ///< the writing thread may ask while this one reads
};

}  // namespace gputrace::os
