// The command line of `gputrace record`: where its options end and CMD begins, and what they mean.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/sensor_rate.h"
#include "daemon/ipc/message.h"

namespace gputrace::commands {

enum class WaitFor { kChild, kTree };

struct RecordOptions {
  bool help = false;
  std::optional<std::filesystem::path> output;  ///< absent: a name in the sessions folder
  bool force = false;
  std::optional<std::string> label;
  double rate_hz = 0;
  double sensor_rate_hz = kDefaultSensorRateHz;  ///< 0 = no sensors
  std::string gpu;
  std::string source;
  std::optional<double> duration_s;
  std::optional<pid_t> pid;
  WaitFor wait = WaitFor::kChild;
  bool quiet = false;
  bool no_daemon = false;                           ///< record without asking gputraced
  std::optional<std::vector<std::string>> command;  ///< never empty; words byte for byte
  ipc::Purpose purpose = ipc::Purpose::kRecording;  ///< of the benches: the kind of file
};

struct CutArguments {
  std::vector<std::string> options;  ///< of record; values that were attached are apart now
  std::optional<std::vector<std::string>> command;
};

/// CMD begins after the first `--`, or at the first word that is not an option of record. It is cut
/// off before cxxopts sees the words: cxxopts 3.1 cannot stop at the first positional word.
[[nodiscard]] CutArguments cut_command(const std::vector<std::string>& arguments);

/// kUsage for anything that makes no sense.
[[nodiscard]] Result<RecordOptions> parse_record_options(const std::vector<std::string>& arguments);

[[nodiscard]] std::string record_help();

}  // namespace gputrace::commands
