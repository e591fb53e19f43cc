#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cxxopts.hpp>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/ipc/control_server.h"
#include "daemon/os/privileges.h"
#include "daemon/os/service_manager.h"
#include "daemon/recorder/real_gpu.h"
#include "daemon/service/service.h"

namespace gputrace {
namespace {

constexpr std::string_view kHelp =
    R"(Samples AMD GPUs for the users of this machine. `gputrace record` asks it for
what needs root: GRBM_STATUS3, and shader engines from the fifth on.

Usage: gputraced [OPTIONS]

Usually systemd starts it: `systemctl enable --now gputraced.socket`. Started by
hand it stays in the foreground, too. As root it reads all that the kernel
allows; as another user it serves that user alone, through the render node.

Options:
      --config FILE    default: /etc/gputrace/gputraced.toml where that exists
      --check-config   say whether the configuration is right, and exit
      --socket FILE    listen there, whatever the configuration says
      --data-dir DIR   keep recordings there, whatever the configuration says
      --foreground     log to standard error, never to the journal
      --version        say the version
  -h, --help           this text

SIGHUP reads the configuration again; SIGTERM and SIGINT finish all recordings,
then end it, within 2 seconds.

Exit status: 0 after a signal to end, or a right configuration; 1 when it could
not start, or for a wrong configuration; 2 for a wrong command line.
)";

struct Arguments {
  std::optional<std::string> config;
  std::optional<std::string> socket;
  std::optional<std::string> data_dir;
  bool check_config = false;
  bool foreground = false;
  bool help = false;
  bool version = false;
};

Result<Arguments> parse(int argc, char** argv) {
  cxxopts::Options options("gputraced");
  options.add_options()("config", "", cxxopts::value<std::string>())("check-config", "")(
      "socket", "", cxxopts::value<std::string>())("data-dir", "", cxxopts::value<std::string>())(
      "foreground", "")("version", "")("h,help", "");
  try {
    const cxxopts::ParseResult parsed = options.parse(argc, argv);
    const auto text = [&parsed](const char* name) {
      return parsed.count(name) > 0 ? std::optional(parsed[name].as<std::string>()) : std::nullopt;
    };
    if (!parsed.unmatched().empty()) {
      return fail(ErrorCode::kUsage, "'" + parsed.unmatched().front() + "' is not an option");
    }
    Arguments arguments;
    arguments.config = text("config");
    arguments.socket = text("socket");
    arguments.data_dir = text("data-dir");
    arguments.check_config = parsed.count("check-config") > 0;
    arguments.foreground = parsed.count("foreground") > 0;
    arguments.help = parsed.count("help") > 0;
    arguments.version = parsed.count("version") > 0;
    return arguments;
  } catch (const cxxopts::exceptions::exception& error) {
    return fail(ErrorCode::kUsage, error.what());
  }
}

/// The file with what the command line overrides. Only a file that was asked for must be there.
Result<service::Config> load_config(const Arguments& arguments) {
  Result<service::Config> config =
      service::read_config(arguments.config.value_or(std::string(service::kDefaultConfigFile)));
  if (!config && config.error().code == ErrorCode::kNotFound && !arguments.config) {
    config = service::Config{};
  }
  if (config && arguments.socket) {
    config->socket = *arguments.socket;
  }
  if (config && arguments.data_dir) {
    config->data_dir = *arguments.data_dir;
  }
  return config;
}

/// An ordinary user cannot give files to a group that it is not in, and serves itself alone.
Result<gid_t> group_of(const service::Config& config) {
  return ::geteuid() == 0 ? os::find_group(config.group) : Result<gid_t>(::getegid());
}

Result<UniqueFd> listener_of(const service::Config& config, gid_t group) {
  Result<std::vector<UniqueFd>> passed = os::sockets_from_service_manager();
  if (!passed) {
    return tl::unexpected<Error>(passed.error());
  }
  if (passed->size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("systemd passed {} sockets, and gputraced takes one", passed->size()));
  }
  return passed->empty() ? ipc::listen_on(config.socket, group) : std::move(passed->front());
}

service::ServiceNotices notices() {
  return {.ready = os::notify_ready,
          .status = os::notify_status,
          .reloading = os::notify_reloading,
          .stopping = os::notify_stopping,
          .watchdog = os::notify_watchdog,
          .watchdog_interval_ns = os::watchdog_interval_ns()};
}

Status serve(const Arguments& arguments, const LogSink& log) {
  ::umask(S_IRWXG | S_IRWXO);
  // A reload asked for while it starts waits until it has: by default SIGHUP ends a process, which
  // systemd takes for a clean end.
  sigset_t hang_up{};
  ::sigemptyset(&hang_up);
  ::sigaddset(&hang_up, SIGHUP);
  ::sigprocmask(SIG_BLOCK, &hang_up, nullptr);
  const Result<service::Config> config = load_config(arguments);
  if (!config) {
    return tl::unexpected<Error>(config.error());
  }
  const Result<gid_t> group = group_of(*config);
  if (!group) {
    return tl::unexpected<Error>(group.error());
  }
  Result<UniqueFd> listener = listener_of(*config, *group);
  if (!listener) {
    return tl::unexpected<Error>(listener.error());
  }
  Result<service::SessionShelf> shelf = service::SessionShelf::open(config->data_dir, *group);
  if (!shelf) {
    return tl::unexpected<Error>(shelf.error());
  }
  std::optional<os::UeventSocket> uevents;
  if (Result<os::UeventSocket> socket = os::UeventSocket::open()) {
    uevents = std::move(*socket);
  } else {
    log(LogLevel::kWarning, socket.error().message);
  }
  const Result<std::string> kept = os::drop_capabilities();
  if (!kept) {
    return tl::unexpected<Error>(kept.error());
  }
  log(LogLevel::kInfo, fmt::format("version {}, capabilities: {}", GPUTRACE_VERSION,
                                   kept->empty() ? "none" : *kept));
  if (::geteuid() != 0) {
    log(LogLevel::kHint,
        fmt::format("not root: serves user {} alone, through render nodes", ::geteuid()));
  }
  const os::SystemRoots roots;
  return service::run_service({.config = *config,
                               .reload = [&arguments] { return load_config(arguments); },
                               .listener = std::move(*listener),
                               .shelf = std::move(*shelf),
                               .group = *group,
                               .name = fmt::format("gputraced {}", GPUTRACE_VERSION),
                               .roots = roots,
                               .uevents = std::move(uevents),
                               .open_gpu =
                                   [roots](const recorder::GpuRequest& request) {
                                     return recorder::open_real_gpu(request, roots);
                                   },
                               .notices = notices(),
                               .log = log});
}

int check_config(const Arguments& arguments) {
  const std::string file = arguments.config.value_or(std::string(service::kDefaultConfigFile));
  const Result<service::Config> config = service::read_config(file);
  if (!config) {
    fmt::print(stderr, "gputraced: {}\n", config.error().message);
    return 1;
  }
  fmt::print("{}: ok\n", file);
  return 0;
}

int run(int argc, char** argv) {
  const Result<Arguments> arguments = parse(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "gputraced: {}\nTry `gputraced --help`.\n", arguments.error().message);
    return 2;
  }
  if (arguments->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (arguments->version) {
    fmt::print("gputraced {}\n", GPUTRACE_VERSION);
    return 0;
  }
  if (arguments->check_config) {
    return check_config(*arguments);
  }
  const LogSink log = arguments->foreground ? log_to_stderr("gputraced")
                                            : os::log_to_journal_or_stderr("gputraced");
  if (const Status served = serve(*arguments, log); !served) {
    log(LogLevel::kError, served.error().message);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gputrace

namespace {
// EX_SOFTWARE (sysexits.h). Not 1, "could not start", after which the unit does not restart.
constexpr int kInternalError = 70;
}  // namespace

int main(int argc, char** argv) {
  try {
    return gputrace::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gputraced: internal error: %s\n", error.what());
    return kInternalError;
  }
}
