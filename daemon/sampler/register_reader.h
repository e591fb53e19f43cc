// The wall between the sampling loop and whatever reads a GPU's status registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputrace::sampler {

/// Upper bound of registers in one sample: STATUS, STATUS2, STATUS3 and 8 shader engines fit.
inline constexpr std::size_t kMaxRegisters = 16;

/// What became of one register in one tick. Values are stored in session files: never renumber.
enum class SampleState : std::uint8_t {
  kValid = 0,
  kAsleep = 1,     ///< runtime-suspended, or the driver says GFX is off: certainly not busy
  kAllOnes = 2,    ///< read 0xffffffff: device off the bus, powered down or reset; not decodable.
                   ///< Set by the sampling loop alone, for every kValid word of all ones, so that
                   ///< no reader can forget it
  kReset = 3,      ///< ENOENT: a GPU reset is under way (amdgpu_info_ioctl, amdgpu_kms.c)
  kGuardLate = 4,  ///< the word arrived too late for an earlier ioctl to have held GFXOFF off. The
                   ///< driver allows GFXOFF 100 ms after the last READ_MMR_REG (amdgpu_gfx.c)
  kReadError = 5,  ///< any other errno
  kLost = 6,       ///< the source is gone for good; the reader will stop offering the register
  kAbsent = 7,     ///< an imported file has no value here
};

[[nodiscard]] constexpr bool is_unknown(SampleState state) {
  return state != SampleState::kValid && state != SampleState::kAsleep;
}
/// "all_ones", "reset", ...: keys of unknown_reasons in the report.
[[nodiscard]] std::string_view reason_name(SampleState state);

struct OfferedRegister {
  std::string name;                ///< regdb's name: "GRBM_STATUS2"
  std::uint32_t dword_offset = 0;  ///< from the built-in regdb, nowhere else
  std::string source;              ///< "drm ioctl", "simulated", "import"
};

struct LostRegister {
  std::string name;
  std::string reason;  ///< with errno text and what it means for the recording
};

/// Where one sample goes: a slot a register, in the order of registers(). `cost_ns` receives the
/// duration of the call that read the register (registers read together get the same value), or 0
/// when none was made.
struct ReadBuffer {
  std::span<std::uint32_t> words;
  std::span<SampleState> states;
  std::span<std::uint32_t> cost_ns;
};

/// Reads one fixed set of registers again and again. Used by one thread.
class RegisterReader {
 public:
  RegisterReader() = default;
  RegisterReader(const RegisterReader&) = delete;
  RegisterReader& operator=(const RegisterReader&) = delete;
  virtual ~RegisterReader() = default;

  /// The set on offer; changes only inside drop_lost().
  [[nodiscard]] virtual std::span<const OfferedRegister> registers() const noexcept = 0;

  /// True when the GPU is to be opened anew, by another reader: one that slept is awake. Asked
  /// before each read; once true it stays so. Never allocates, throws or blocks.
  [[nodiscard]] virtual bool is_over(std::int64_t /*now_ns*/) noexcept { return false; }

  /// One sample of every register. `now_ns` (CLOCK_MONOTONIC) is when the loop began the tick.
  /// Never allocates, throws or logs; a failure is a state, and a word without kValid has no
  /// meaning. May block as long as the driver does.
  virtual void read(std::int64_t now_ns, ReadBuffer out) noexcept = 0;

  /// Called between ticks after a read that gave kLost. Takes those registers off the offer and
  /// says why; the loop then begins a new segment. An empty offer ends the recording.
  [[nodiscard]] virtual std::vector<LostRegister> drop_lost() = 0;

  /// In words, the latest kReadError ("ioctl READ_MMR_REG on /dev/dri/renderD128: ..."); empty
  /// when there was none. Not for the hot path.
  [[nodiscard]] virtual std::string last_error() const = 0;
};

}  // namespace gputrace::sampler
