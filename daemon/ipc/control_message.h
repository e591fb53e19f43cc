// What clients and gputraced say to each other: one JSON object a message over SOCK_SEQPACKET
// (docs/protocol.md). Requests go to the daemon, replies come back. A message that is not exactly
// what this file describes is refused with the reason. No path, register address or write ever
// comes from a client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/sensor_rate.h"
#include "daemon/ipc/message.h"

namespace gputrace::ipc {

inline constexpr int kProtocolVersion = 1;
inline constexpr std::string_view kDefaultSocket = "/run/gputrace/gputraced.socket";
inline constexpr std::size_t kMaxGpus = 32;
inline constexpr std::size_t kMaxSessionsListed = 256;  ///< newest first; SessionsReply says so
inline constexpr std::size_t kMaxSessionName = 128;
/// Of programs, GPUs and arguments of --gpu.
inline constexpr std::size_t kMaxNameBytes = 256;
inline constexpr std::size_t kMaxProblems = 16;
/// session_file replies that a client may leave unread; with more it is dropped.
inline constexpr std::size_t kMaxUnreadDescriptors = 8;

/// The first request of every connection. Answered by hello or failed. In every version both have
/// "type" and "version"; of another version nothing else is looked at.
struct HelloRequest {
  int version = kProtocolVersion;
  std::string client;  ///< "gputrace 0.1.0", for the log; printable ASCII
  bool operator==(const HelloRequest&) const = default;
};
struct GpusRequest {
  bool operator==(const GpusRequest&) const = default;
};
struct StatusRequest {
  bool operator==(const StatusRequest&) const = default;
};
/// One recording a connection; it ends with it. Answered by ready or failed, later by warning and
/// closed. `file` in those is the name of a session; empty in closed when no file is left.
struct RecordRequest {
  std::string gpu;  ///< as --gpu has it: index, PCI address, cardN, renderDN, name; empty = default
  std::string source;  ///< "auto", "drm", "debugfs" or "bar"
  double rate_hz = 0;
  std::optional<std::string> label;
  std::optional<std::vector<std::string>> command;
  double sensor_rate_hz = kDefaultSensorRateHz;  ///< 0 = no sensors
  Purpose purpose = Purpose::kRecording;         ///< never kBackground or kLive
  bool operator==(const RecordRequest&) const = default;
};
/// An event in every recording of the caller's uid. Answered by marked.
struct MarkRequest {
  std::string text;
  bool operator==(const MarkRequest&) const = default;
};
/// A window answer each second until the connection closes; nothing is stored.
struct SubscribeRequest {
  std::string gpu;
  double rate_hz = 0;
  bool operator==(const SubscribeRequest&) const = default;
};
struct SessionsRequest {
  bool operator==(const SessionsRequest&) const = default;
};
/// Answered by session_file with a read-only descriptor. kBusy while it is being recorded.
struct FetchRequest {
  std::string name;
  bool operator==(const FetchRequest&) const = default;
};
/// The caller has copied it: the daemon's file is deleted. Answered by removed.
struct DoneRequest {
  std::string name;
  bool operator==(const DoneRequest&) const = default;
};

/// "stop", "processes", "switch" and "point" are the recorder's orders, here for the recording of
/// the connection. "processes" and "switch" have no answer but failed.
using Request = std::variant<HelloRequest, GpusRequest, StatusRequest, RecordRequest, MarkRequest,
                             StopOrder, ProcessesOrder, SwitchOrder, PointOrder, SubscribeRequest,
                             SessionsRequest, FetchRequest, DoneRequest>;

struct HelloReply {
  int version = kProtocolVersion;
  std::string daemon;  ///< "gputraced 0.1.0"
  bool operator==(const HelloReply&) const = default;
};
struct GpuEntry {
  std::string name;
  std::string pci;
  std::string card;
  std::string gc;              ///< empty when only opening the GPU would tell
  std::string runtime_status;  ///< empty when unreadable
  bool operator==(const GpuEntry&) const = default;
};
struct GpusReply {
  std::vector<GpuEntry> gpus;
  bool operator==(const GpusReply&) const = default;
};
struct RecorderEntry {
  std::string gpu_name;
  std::string pci;
  std::string state;  ///< one of "idle", "sampling", "gone", "stuck", "dead"
  double rate_hz = 0;
  std::uint32_t sessions = 0;
  bool operator==(const RecorderEntry&) const = default;
};
struct StatusReply {
  std::string daemon;
  double uptime_s = 0;
  std::vector<RecorderEntry> recorders;
  std::uint32_t recordings = 0;       ///< of everybody, now
  std::uint32_t your_recordings = 0;  ///< of the caller's uid, now
  std::uint64_t your_bytes = 0;       ///< of sessions kept for the caller
  std::uint64_t your_byte_limit = 0;
  std::uint64_t free_bytes = 0;     ///< of the disk of the sessions
  std::uint64_t reserve_bytes = 0;  ///< kept free
  bool background = false;
  double cpu_s = 0;                   ///< of the daemon and its recorders since its start
  std::vector<std::string> problems;  ///< what needs a person
  bool operator==(const StatusReply&) const = default;
};
struct MarkedReply {
  std::uint32_t recordings = 0;
  bool operator==(const MarkedReply&) const = default;
};
struct SessionEntry {
  std::string name;  ///< file name in the caller's folder
  std::uint64_t bytes = 0;
  std::int64_t written_realtime_ns = 0;
  bool recording = false;
  bool operator==(const SessionEntry&) const = default;
};
struct SessionsReply {
  std::vector<SessionEntry> sessions;  ///< newest first
  std::uint32_t left_out = 0;
  bool operator==(const SessionsReply&) const = default;
};
struct SessionFileReply {
  std::string name;
  std::uint64_t bytes = 0;
  bool operator==(const SessionFileReply&) const = default;
};
struct RemovedReply {
  std::string name;
  bool operator==(const RemovedReply&) const = default;
};

/// FailedAnswer answers any request that could not be met.
using Reply = std::variant<HelloReply, GpusReply, StatusReply, MarkedReply, SessionsReply,
                           SessionFileReply, RemovedReply, ReadyAnswer, FailedAnswer, WarningAnswer,
                           ClosedAnswer, WindowAnswer, PointAnswer>;

/// kInvalidArgument when a field is over its limit. Texts of the daemon for people are shortened
/// instead, and sessions over kMaxSessionsListed are counted in left_out.
[[nodiscard]] Result<std::string> encode_request(const Request& request);
[[nodiscard]] Result<std::string> encode_reply(const Reply& reply);
/// kCorrupt names the field. What decodes can be encoded, and decodes to the same again.
[[nodiscard]] Result<Request> decode_request(std::string_view message);
[[nodiscard]] Result<Reply> decode_reply(std::string_view message);

/// The "type" on the wire, for messages and logs.
[[nodiscard]] std::string_view request_name(const Request& request);
[[nodiscard]] std::string_view reply_name(const Reply& reply);

/// A name that can only be a file in one folder: letters, digits and "._-+", not starting with a
/// dot or a dash, ending in ".gputrace". All that a client can say about files.
[[nodiscard]] bool is_session_name(std::string_view name);

}  // namespace gputrace::ipc
