// The caller's command that sets a power limit, and the process that executes it. That process is
// one of its own so that the limit is set back even when a driver crashes gputrace.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

inline constexpr std::uint32_t kMinWatts = 1;
inline constexpr std::uint32_t kMaxWatts = 1000;

/// Words of a command with {watts} in them.
class PowerCommand {
 public:
  /// kUsage as split_shell_words() says, and without {watts}.
  [[nodiscard]] static Result<PowerCommand> parse(std::string_view text);
  /// {watts} is replaced after the words were cut: it never makes another word.
  [[nodiscard]] std::vector<std::string> words(std::uint32_t watts) const;

 private:
  std::vector<std::string> words_;
};

/// "15": whole watts from kMinWatts to kMaxWatts, so that {watts}000 is milliwatts. kUsage else.
[[nodiscard]] Result<std::uint32_t> parse_watts(std::string_view text);

/// Sets limits, one at a time. Move-only.
class PowerSetter {
 public:
  /// Starts the process; call it while the caller has one thread. Under sudo it becomes the user
  /// who called sudo. It ignores the signals of a terminal.
  [[nodiscard]] static Result<PowerSetter> start(const PowerCommand& command,
                                                 std::uint32_t restore_watts);

  PowerSetter(PowerSetter&&) noexcept = default;
  PowerSetter& operator=(PowerSetter&&) noexcept = delete;
  PowerSetter(const PowerSetter&) = delete;
  PowerSetter& operator=(const PowerSetter&) = delete;
  /// Restores, if that is due, and waits for it.
  ~PowerSetter();

  /// Executes the command and waits until it has ended: 30 s, or until cancelled() (kBusy). An exit
  /// status other than 0 is kIo.
  [[nodiscard]] Status set(std::uint32_t watts, const std::function<bool()>& cancelled);
  /// After at least one set(), also a failed one. Not cancelled by signals; the limit is 30 s.
  [[nodiscard]] Status restore();

 private:
  PowerSetter(UniqueFd socket, pid_t process, std::uint32_t restore_watts)
      : socket_(std::move(socket)), process_(process), restore_watts_(restore_watts) {}
  [[nodiscard]] Status ask(std::uint32_t watts, const std::function<bool()>& cancelled);

  UniqueFd socket_;
  pid_t process_ = -1;
  std::uint32_t restore_watts_ = 0;
  bool restore_due_ = false;
  int answers_due_ = 0;
};

}  // namespace gputrace::commands
