// Whoever samples for `gputrace record` and for the benches: a child of gputrace, or gputraced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/ipc/message.h"

namespace gputrace::commands {

/// How the conversation stands when CMD has ended.
struct RecordingEnd {
  std::optional<ipc::ClosedAnswer> closed;
  bool open = false;  ///< the other end is there still
  std::int64_t deadline_ns = 0;
};

/// What the user gets, and what to tell about it. Texts are not escaped.
struct Delivery {
  std::optional<std::filesystem::path> file;  ///< absent: the user has none
  bool still_wal = false;                     ///< another program reads it
  std::string through;                        ///< "gputraced: GRBM_STATUS3 too"
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
};

class RecorderLink {
 public:
  RecorderLink() = default;
  RecorderLink(const RecorderLink&) = delete;
  RecorderLink& operator=(const RecorderLink&) = delete;
  virtual ~RecorderLink() = default;

  /// For poll(2).
  [[nodiscard]] virtual int fd() const = 0;
  /// One message; call it when fd() is readable. Absent: the other end is closed. kCorrupt: a
  /// message was not understood and is gone; the next can be received.
  [[nodiscard]] virtual Result<std::optional<ipc::Answer>> receive() = 0;
  [[nodiscard]] virtual Status stop(const ipc::StopOrder& order) = 0;
  /// These never wait: kBusy when the other end has not read what was sent before.
  [[nodiscard]] virtual Status processes(const ipc::ProcessesOrder& order) = 0;
  [[nodiscard]] virtual Status switch_gpu(const ipc::SwitchOrder& order) = 0;
  /// The same; answered by point.
  [[nodiscard]] virtual Status point(const ipc::PointOrder& order) = 0;
  /// After the last message: brings the file to where the user wants it, by the deadline.
  [[nodiscard]] virtual Delivery deliver(const RecordingEnd& end) = 0;
};

}  // namespace gputrace::commands
