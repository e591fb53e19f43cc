#include "daemon/os/sensors/perf_event.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "daemon/base/result.h"
#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

/// -1 to 4; Debian and Ubuntu have values of their own above 2 that refuse everything.
std::optional<int> perf_event_paranoid(const SystemRoots& roots) {
  const auto text = read_text(roots.proc / "sys/kernel/perf_event_paranoid");
  int value = 0;
  if (!text ||
      std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) {
    return std::nullopt;
  }
  return value;
}

PerfRefusal explain_permission(std::string reason, const SystemRoots& roots) {
  PerfRefusal refusal;
  refusal.is_permission = true;
  // A counter of a whole CPU: perf_allow_cpu() of include/linux/perf_event.h.
  const std::optional<int> paranoid = perf_event_paranoid(roots);
  if (paranoid && *paranoid <= 0) {
    refusal.reason = fmt::format(
        "{}; kernel.perf_event_paranoid is {}, which allows it, so a sandbox or container forbids "
        "the call",
        reason, *paranoid);
    refusal.fix = "run gputrace outside the container";
    return refusal;
  }
  refusal.reason = fmt::format(
      "{}; it needs CAP_PERFMON, or kernel.perf_event_paranoid at 0 or below, and that is {}",
      reason, paranoid ? std::to_string(*paranoid) : "not readable");
  refusal.fix =
      "start gputraced, which has CAP_PERFMON, or sudo sysctl kernel.perf_event_paranoid=0";
  return refusal;
}

}  // namespace

int open_perf_event(const PerfEvent& event, int cpu) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.config1 = event.config1;
  attributes.config2 = event.config2;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  const long fd = ::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

int read_perf_event(int fd, PerfCount& count) noexcept {
  PerfCount read{};
  for (;;) {
    const ssize_t size = ::read(fd, &read, sizeof(read));
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return errno;
    }
    if (size == 0) {
      return ENODEV;  // the event is in its error state (perf_read() of kernel/events/core.c)
    }
    if (size != sizeof(read)) {
      return EIO;
    }
    count = read;
    return 0;
  }
}

PerfRefusal explain_perf_error(int error_number, std::string_view what, int cpu,
                               const SystemRoots& roots) {
  std::string reason =
      error_from_errno(error_number, fmt::format("cannot count {} on CPU {}", what, cpu)).message;
  switch (error_number) {
    case EACCES:
    case EPERM:
      return explain_permission(std::move(reason), roots);
    case ENOENT:
    case EOPNOTSUPP:
      return {reason + "; this kernel's PMU does not have the event", ""};
    case ENODEV:
      return {fmt::format("{}; the PMU does not count there, or the CPU is offline", reason), ""};
    case EINVAL:
      return {reason + "; this kernel's PMU does not take the event as it is encoded", ""};
    case EMFILE:
      return {reason + "; this process may not open more files", "raise the limit: ulimit -n 4096"};
    case EBUSY:
      return {reason + "; another program holds the PMU for itself", "end the other profiler"};
    case ENOSYS:
      return {reason + "; the kernel was built without perf events",
              "use a kernel with CONFIG_PERF_EVENTS"};
    default:
      return {std::move(reason), ""};
  }
}

}  // namespace gputrace::os
