#include "cli/commands/daemon_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace gputrace::commands {

namespace {

/// Where systemd looks for units (systemd.unit(5)).
constexpr std::array<std::string_view, 5> kUnitFolders{
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system", "/lib/systemd/system"};

}  // namespace

bool daemon_is_installed() {
  return std::any_of(kUnitFolders.begin(), kUnitFolders.end(), [](std::string_view folder) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(folder) / "gputraced.service", ignored);
  });
}

Result<ipc::ControlClient> connect_to_daemon(std::int64_t timeout_ns) {
  const std::filesystem::path socket = ipc::control_socket_path();
  Result<ipc::ControlClient> client =
      ipc::ControlClient::connect(socket, "gputrace " GPUTRACE_VERSION, timeout_ns);
  if (client || client.error().code != ErrorCode::kNotFound) {
    return client;
  }
  if (daemon_is_installed()) {
    return fail(ErrorCode::kNotFound,
                fmt::format("gputraced is installed but does not run: nobody listens on {}; start "
                            "it with `sudo systemctl enable --now gputraced.socket`",
                            socket.string()));
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("gputraced is not installed: nobody listens on {}. It is a service that "
                          "an administrator adds; `gputrace record` works without it",
                          socket.string()));
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"kB", "MB", "GB", "TB"};
  if (bytes < 1000) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, kUnits.at(unit));
}

}  // namespace gputrace::commands
