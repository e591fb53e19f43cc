// What the recorder process and the one that started it say to each other: one JSON object a
// message. Orders go to the recorder, answers come back. A message that is not exactly what this
// file describes is refused with the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::ipc {

/// Below the kernel's default socket buffer (net.core.wmem_default, 208 KiB), so that a message
/// either fits or is refused by us.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{128} * 1024;
inline constexpr std::size_t kMaxPathBytes = 4096;
inline constexpr std::size_t kMaxLabelBytes = 1024;
/// Error texts, warnings, notes, names. Longer ones are cut when they are sent.
inline constexpr std::size_t kMaxTextBytes = 4096;
inline constexpr std::size_t kMaxNotes = 16;
/// The recorded command line. Longer ones are shortened by shorten_command().
inline constexpr std::size_t kMaxCommandBytes = std::size_t{16} * 1024;
inline constexpr std::size_t kMaxCommandWords = 1024;

enum class OnExisting {
  kRefuse,
  kReplace,
  kNumber,  ///< the name was made up: another one with a number will do
};

/// Open the GPU, create the file, sample. Answered by ready or failed.
struct StartOrder {
  std::string gpu;     ///< argument of --gpu; empty = the default GPU
  std::string source;  ///< "auto" or "drm"
  double rate_hz = 0;
  std::string file;
  OnExisting on_existing = OnExisting::kRefuse;
  std::optional<std::string> label;
  std::optional<std::vector<std::string>> command;

  bool operator==(const StartOrder&) const = default;
};

/// Something to find again in the report.
struct MarkOrder {
  std::int64_t time_ns = 0;
  std::string text;

  bool operator==(const MarkOrder&) const = default;
};

/// The workload has ended: finish the file. Answered by closed.
struct StopOrder {
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool discard = false;  ///< the workload never ran: remove the file

  bool operator==(const StopOrder&) const = default;
};

using Order = std::variant<StartOrder, MarkOrder, StopOrder>;

struct ReadyAnswer {
  std::string file;  ///< that of the order, or the one with a number
  std::string gpu_name;
  bool simulated = false;
  std::string scenario;
  double load_seconds = 0;
  std::vector<std::string> notes;

  bool operator==(const ReadyAnswer&) const = default;
};

/// Recording cannot start. The last message.
struct FailedAnswer {
  Error error;

  bool operator==(const FailedAnswer& other) const {
    return error.code == other.error.code && error.message == other.error.message;
  }
};

/// To be told when the workload has ended.
struct WarningAnswer {
  std::string text;
  bool recording_ended = false;  ///< nothing more will be sampled; a stop is still awaited

  bool operator==(const WarningAnswer&) const = default;
};

/// The file is as finished as it will be. The last message.
struct ClosedAnswer {
  std::string file;
  bool still_wal = false;          ///< a reader was connected: the next writer finishes the file
  std::uint64_t samples = 0;       ///< ticks kept
  std::uint64_t missed = 0;        ///< periods without a read
  std::uint64_t dropped = 0;       ///< ticks read but not kept
  double seconds = 0;              ///< from the first period to the last
  std::optional<double> unknown;   ///< share of all words that say nothing; absent without samples
  std::optional<std::string> cut;  ///< why the file could not be finished; it opens all the same

  bool operator==(const ClosedAnswer&) const = default;
};

using Answer = std::variant<ReadyAnswer, FailedAnswer, WarningAnswer, ClosedAnswer>;

/// kInvalidArgument when a field is over its limit and may not be shortened.
[[nodiscard]] Result<std::string> encode(const Order& order);
[[nodiscard]] Result<std::string> encode(const Answer& answer);
/// kCorrupt names the field.
[[nodiscard]] Result<Order> decode_order(std::string_view message);
[[nodiscard]] Result<Answer> decode_answer(std::string_view message);

/// The words that fit the limits; a last word says how many were left out.
[[nodiscard]] std::vector<std::string> shorten_command(const std::vector<std::string>& command);

}  // namespace gputrace::ipc
