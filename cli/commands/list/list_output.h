// What `gputrace list` knows of each session, and how it prints it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/ipc/control_message.h"
#include "daemon/store/results.h"
#include "daemon/store/session.h"

namespace gputrace::commands {

struct ListedSession {
  std::filesystem::path file;
  std::optional<std::string> broken;  ///< why it cannot be read
  store::SessionDescription description;
  std::optional<store::SessionEnd> end;
  bool in_use = false;
  std::optional<double> duration_s;
  std::optional<store::SegmentDescription> segment;  ///< the longest one
  std::vector<store::ResultRun> results;             ///< of a roofline or a bench
};

void print_list_text(const std::vector<ListedSession>& sessions, const ipc::SessionsReply& kept);
void print_list_json(const std::vector<ListedSession>& sessions, const ipc::SessionsReply& kept);

}  // namespace gputrace::commands
