// What a recorder process and the one that started it say to each other: one JSON object a
// message. Orders go to the recorder, answers come back. A message that is not exactly what this
// file describes is refused with the reason. A recorder of `gputrace record` has one such
// conversation; that of gputraced has one for each session, on a socket of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/sensor_rate.h"

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
inline constexpr std::size_t kMaxWindowRegisters = 32;
inline constexpr std::size_t kMaxClients = 128;
inline constexpr std::size_t kMaxEngines = 16;
/// Of a process or an engine.
inline constexpr std::size_t kMaxClientNameBytes = 64;
inline constexpr std::size_t kMaxPciBytes = 16;
inline constexpr std::size_t kMaxPointLabelBytes = 256;
inline constexpr std::size_t kMaxStimulusBytes = 4096;

enum class OnExisting {
  kRefuse,
  kReplace,
  kNumber,  ///< the name was made up: another one with a number will do
};

/// What becomes of the samples.
enum class Purpose {
  kRecording,   ///< a session file
  kBackground,  ///< a day file of the monitoring: bursts, readable by the group, no command
  kLive,        ///< no file: a window answer a second
  kRoofline,    ///< a session file of this kind, as the next two are
  kBench,
  kCalibration,
};

/// Samples are taken in the first `length_s` of every `every_s` only.
struct Bursts {
  double length_s = 0;
  double every_s = 0;

  bool operator==(const Bursts&) const = default;
};

/// Open the GPU, create the file, sample. Answered by ready or failed.
struct StartOrder {
  std::string gpu;     ///< argument of --gpu; empty = the default GPU
  std::string source;  ///< "auto", "drm", "debugfs" or "bar"
  double rate_hz = 0;
  std::string file;  ///< empty for kLive
  OnExisting on_existing = OnExisting::kRefuse;
  std::optional<std::string> label;
  std::optional<std::vector<std::string>> command;
  Purpose purpose = Purpose::kRecording;
  std::optional<Bursts> bursts = std::nullopt;
  double sensor_rate_hz = kDefaultSensorRateHz;  ///< of the slow loop; 0 = no sensors
  /// With less than this left on the file's disk nothing is written until there is more again.
  std::uint64_t reserve_bytes = 0;

  bool operator==(const StartOrder&) const = default;
};

/// Something to find again in the report.
struct MarkOrder {
  std::int64_t time_ns = 0;
  std::string text;
  std::string kind = "mark";  ///< of the event: "mark" from a person, "device" from the kernel

  bool operator==(const MarkOrder&) const = default;
};

/// The workload has ended: finish the file. Answered by closed.
struct StopOrder {
  std::optional<int> exit_code;
  std::optional<int> signal;
  bool discard = false;  ///< the workload never ran: remove the file

  bool operator==(const StopOrder&) const = default;
};

/// One DRM client of the recorded processes: what the kernel's fdinfo says of it. Totals, all below
/// 2^63.
struct ClientReading {
  std::int64_t pid = 0;
  std::string process;  ///< its name (comm)
  std::string pdev;     ///< PCI address
  std::uint64_t client_id = 0;
  std::map<std::string, std::uint64_t> engine_ns;  ///< at most kMaxEngines; names are [a-z0-9_]+
  std::optional<std::uint64_t> vram_bytes = std::nullopt;
  std::optional<std::uint64_t> gtt_bytes = std::nullopt;

  bool operator==(const ClientReading&) const = default;
};

/// The processes of the workload, twice a second at most. Only the command line reads fdinfo.
struct ProcessesOrder {
  std::int64_t time_ns = 0;
  std::vector<ClientReading> clients;  ///< those over kMaxClients or a message count as left out
  std::uint32_t unreadable = 0;        ///< processes that could not be read
  std::uint32_t left_out = 0;          ///< clients over the limit

  bool operator==(const ProcessesOrder&) const = default;
};

/// Go on with another GPU in a new segment: the one that the workload has opened. Once a session.
struct SwitchOrder {
  std::string gpu;  ///< PCI address

  bool operator==(const SwitchOrder&) const = default;
};

/// A kernel of a bench begins, or the one that began ends. Kept as an event, point_begin or
/// point_end, whose text is point_event_text(); a simulated GPU plays the stimulus until the end.
/// Answered by point.
struct PointOrder {
  std::int64_t time_ns = 0;             ///< CLOCK_MONOTONIC
  std::string label;                    ///< "sweep.n16"; printable ASCII
  std::optional<std::string> stimulus;  ///< a JSON object; absent: the point ends

  bool operator==(const PointOrder&) const = default;
};

using Order =
    std::variant<StartOrder, MarkOrder, StopOrder, ProcessesOrder, SwitchOrder, PointOrder>;

struct ReadyAnswer {
  std::string file;  ///< that of the order, or the one with a number
  std::string gpu_name;
  bool simulated = false;
  std::string scenario;
  double load_seconds = 0;
  std::vector<std::string> notes;
  std::string pci = {};  ///< PCI address; empty for a simulated GPU

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

/// The file is as finished as it will be. The last message. Counts are absent when it comes from
/// gputraced because the recorder could not say them any more.
struct ClosedAnswer {
  std::string file;
  bool still_wal = false;  ///< a reader was connected: the next writer finishes the file
  std::optional<std::uint64_t> samples = std::nullopt;  ///< ticks kept
  std::optional<std::uint64_t> missed = std::nullopt;   ///< periods without a read
  std::optional<std::uint64_t> dropped = std::nullopt;  ///< ticks read but not kept
  std::optional<double> seconds = std::nullopt;         ///< from the first period to the last
  std::optional<double> unknown;   ///< share of all words that say nothing; absent without samples
  std::optional<std::string> cut;  ///< why the file could not be finished; it opens all the same

  bool operator==(const ClosedAnswer&) const = default;
};

/// Counts of one register over a window. A bit's busy fraction is busy[bit] / valid.
struct RegisterWindow {
  std::string name;
  std::uint32_t valid = 0;
  std::uint32_t asleep = 0;
  std::uint32_t unknown = 0;
  std::array<std::uint32_t, 32> busy{};

  bool operator==(const RegisterWindow&) const = default;
};

/// Each second of a live session.
struct WindowAnswer {
  std::int64_t start_ns = 0;  ///< CLOCK_MONOTONIC
  std::int64_t end_ns = 0;
  std::vector<RegisterWindow> registers;

  bool operator==(const WindowAnswer&) const = default;
};

/// Answers each point order, when a simulated GPU plays it and its event is on the way to the file.
struct PointAnswer {
  std::optional<std::int64_t> time_ns;  ///< of the event; absent: none, a warning has said why

  bool operator==(const PointAnswer&) const = default;
};

using Answer =
    std::variant<ReadyAnswer, FailedAnswer, WarningAnswer, ClosedAnswer, WindowAnswer, PointAnswer>;

/// On the socket between gputraced and the recorder of one GPU: once a second, and at each change.
struct HealthReport {
  std::uint32_t sessions = 0;
  double rate_hz = 0;   ///< of the shared loop; 0 = it does not run
  double stuck_s = 0;   ///< how long the read in progress has not returned; 0 = none hangs
  bool present = true;  ///< false: the GPU is gone and is looked for again each second

  bool operator==(const HealthReport&) const = default;
};

/// kInvalidArgument when a field is over its limit and may not be shortened.
[[nodiscard]] Result<std::string> encode(const Order& order);
[[nodiscard]] Result<std::string> encode(const Answer& answer);
[[nodiscard]] Result<std::string> encode(const HealthReport& report);
/// kCorrupt names the field.
[[nodiscard]] Result<Order> decode_order(std::string_view message);
[[nodiscard]] Result<Answer> decode_answer(std::string_view message);
[[nodiscard]] Result<HealthReport> decode_health(std::string_view message);

/// "0000:c4:00.0", as sysfs and fdinfo have it.
[[nodiscard]] bool is_pci_address(std::string_view text);

/// {"label":"sweep.n16","stimulus":{...}}; without a stimulus where there is none.
[[nodiscard]] std::string point_event_text(const PointOrder& order);

/// The words that fit the limits; a last word says how many were left out.
[[nodiscard]] std::vector<std::string> shorten_command(const std::vector<std::string>& command);

}  // namespace gputrace::ipc
