// A gputraced of the test's own: a process that speaks the control protocol from a script and keeps
// sessions in a folder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "daemon/base/result.h"
#include "daemon/ipc/control_message.h"

namespace gputrace::test {

inline const std::string kFakeSession = "game-20261130-070000.gputrace";

/// What it does other than a daemon that works.
struct DaemonScript {
  std::optional<Error> refuse_client;
  std::optional<Error> refuse_record;
  bool die_at_record = false;
  bool mute_fetches = false;  ///< they are not answered
  int busy_fetches = 0;       ///< so many are answered with kBusy first
  bool recording = false;     ///< the sessions listed are being recorded
  std::uint32_t marked = 0;   ///< recordings that a mark reaches
  ipc::StatusReply status;
};

class FakeDaemon {
 public:
  /// Listens on FOLDER/socket, keeps sessions in FOLDER/shelf, notes what it hears in FOLDER/heard.
  explicit FakeDaemon(const std::filesystem::path& folder, const DaemonScript& script = {});
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon() { kill(); }

  void kill();

  static std::filesystem::path socket(const std::filesystem::path& folder) {
    return folder / "socket";
  }
  static std::filesystem::path shelf(const std::filesystem::path& folder) {
    return folder / "shelf";
  }
  /// A request a line, "stop exit 3", of all daemons that there were.
  static std::string heard(const std::filesystem::path& folder);

 private:
  pid_t pid_ = -1;
};

}  // namespace gputrace::test
