// gputraced's configuration: a TOML file (systemd/gputraced.toml documents every key). Unknown keys
// and values out of range are errors that name file, line and key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::service {

inline constexpr std::string_view kDefaultConfigFile = "/etc/gputrace/gputraced.toml";

struct Config {
  std::filesystem::path socket = "/run/gputrace/gputraced.socket";  ///< not under socket activation
  std::filesystem::path data_dir = "/var/lib/gputrace";
  std::string group = "gputrace";

  struct Limits {
    double max_rate_hz = 20'000;
    std::uint32_t recordings_per_user = 4;
    std::uint64_t bytes_per_user = std::uint64_t{2} << 30U;
    std::uint32_t clients = 64;
    std::uint32_t clients_per_user = 16;
    std::uint64_t reserve_bytes = std::uint64_t{1} << 30U;  ///< kept free on the data disk
    bool operator==(const Limits&) const = default;
  } limits;

  struct Retention {
    double sessions_days = 7;
    double background_days = 14;
    std::uint64_t total_bytes = std::uint64_t{8} << 30U;
    bool operator==(const Retention&) const = default;
  } retention;

  struct Background {
    bool enabled = false;
    double rate_hz = 1000;
    double burst_s = 0.1;
    double every_s = 5;
    bool operator==(const Background&) const = default;
  } background;

  bool operator==(const Config&) const = default;
};

/// `name` is for messages. kInvalidArgument: "gputraced.toml:12: limits.max_rate_hz: ...".
[[nodiscard]] Result<Config> parse_config(std::string_view text, std::string_view name);
/// A file that is not there: kNotFound.
[[nodiscard]] Result<Config> read_config(const std::filesystem::path& file);

}  // namespace gputrace::service
