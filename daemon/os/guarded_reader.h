// Registers that the ioctl does not give, read through debugfs or the BAR, which know nothing of
// GFXOFF: a read with the graphics core off can hang the machine. Each of the kernel's own reads
// (READ_MMR_REG) holds GFXOFF off for 100 ms more (amdgpu_gfx_off_ctrl, GFX_OFF_DELAY_ENABLE,
// amdgpu_gfx.c; since Linux 5.15), so such a read takes place only shortly after one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/os/render_node_reader.h"
#include "daemon/os/runtime_status.h"
#include "daemon/sampler/register_reader.h"

namespace gputrace::os {

/// One way to any register, without a guard of its own. Never writes.
class PrivilegedRegisters {
 public:
  PrivilegedRegisters() = default;
  PrivilegedRegisters(const PrivilegedRegisters&) = delete;
  PrivilegedRegisters& operator=(const PrivilegedRegisters&) = delete;
  virtual ~PrivilegedRegisters() = default;

  /// Reads consecutive registers; 0 or an errno. Allocates nothing.
  [[nodiscard]] virtual int read(std::uint32_t first_dword_offset,
                                 std::span<std::uint32_t> words) noexcept = 0;
  /// For messages.
  [[nodiscard]] virtual const std::string& path() const noexcept = 0;
};

/// What the guard asks the world. Neither may allocate or throw when called.
struct GuardAccess {
  std::function<PowerState()> power;     ///< wakes nothing
  std::function<std::int64_t()> now_ns;  ///< CLOCK_MONOTONIC
};

/// What the ioctl said in this tick.
struct IoctlAnswer {
  sampler::SampleState state = sampler::SampleState::kLost;  ///< kValid: it holds GFXOFF off
  bool all_ones = false;         ///< it succeeded, and the device does not answer all the same
  std::int64_t called_ns = 0;    ///< of the last call that succeeded
  std::int64_t returned_ns = 0;  ///< the same
};
/// One sample through the ioctl, and what it means for guarded reads.
[[nodiscard]] IoctlAnswer read_ioctl(RenderNodeReader& node, std::int64_t now_ns,
                                     sampler::ReadBuffer out) noexcept;

/// The guarded half of a sample. An error or a word of all ones ends it for the session.
class GuardedWords {
 public:
  GuardedWords(std::vector<sampler::OfferedRegister> registers,
               std::unique_ptr<PrivilegedRegisters> privileged, GuardAccess access);

  [[nodiscard]] const std::vector<sampler::OfferedRegister>& registers() const {
    return registers_;
  }
  /// Right after read_ioctl(), in the same thread.
  void read(const IoctlAnswer& ioctl, sampler::ReadBuffer out) noexcept;
  [[nodiscard]] bool has_ended() const { return ended_; }
  /// Which read ended it and how.
  [[nodiscard]] Error end_error() const;
  /// The latest kReadError in words; empty when there was none.
  [[nodiscard]] std::string last_error() const;

 private:
  void read_group(const RegisterGroup& group, const IoctlAnswer& ioctl,
                  sampler::ReadBuffer out) noexcept;
  void end(int error_number, std::uint32_t offset) noexcept;

  std::vector<sampler::OfferedRegister> registers_;
  std::vector<RegisterGroup> groups_;
  std::unique_ptr<PrivilegedRegisters> privileged_;
  GuardAccess access_;
  bool ended_ = false;
  int end_errno_ = 0;  ///< 0: all ones
  std::uint32_t end_offset_ = 0;
  std::atomic<bool> power_was_unclear_ = false;  ///< the writing thread may ask
};

class GuardedReader final : public sampler::RegisterReader {
 public:
  enum class Offer {
    kBoth,         ///< the ioctl's registers, then the guarded ones
    kGuardedOnly,  ///< the ioctl is called all the same, for one register
  };
  GuardedReader(std::unique_ptr<RenderNodeReader> node, std::unique_ptr<GuardedWords> words,
                Offer offer);

  [[nodiscard]] std::span<const sampler::OfferedRegister> registers() const noexcept override {
    return registers_;
  }
  void read(std::int64_t now_ns, sampler::ReadBuffer out) noexcept override;
  [[nodiscard]] std::vector<sampler::LostRegister> drop_lost() override;
  [[nodiscard]] std::string last_error() const override;

 private:
  void collect_offer();

  std::unique_ptr<RenderNodeReader> node_;
  const std::unique_ptr<GuardedWords> words_;  ///< kept when lost: last_error() may be asking
  const Offer offer_;
  bool words_lost_ = false;
  std::vector<sampler::OfferedRegister> registers_;
};

}  // namespace gputrace::os
