#include "cli/commands/record/process_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <set>
#include <utility>

#include "cli/commands/record/client_scan.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "daemon/recorder/process_isolation.h"

namespace gputrace::commands {

namespace {

constexpr std::int64_t kFirstLookNs = 50 * kNsPerMs;
constexpr std::int64_t kUsualNs = 500 * kNsPerMs;
constexpr std::int64_t kCostShare = 100;  ///< of the time between looks
/// Of one look, however many processes and descriptors there are.
constexpr std::int64_t kBudgetNs = 200 * kNsPerMs;

/// Waits; true when the other end is closed.
bool other_end_closed(int fd, std::int64_t timeout_ns) {
  pollfd socket{fd, 0, 0};
  return ::poll(&socket, 1, static_cast<int>(timeout_ns / kNsPerMs)) != 0 &&
         (socket.revents & (POLLHUP | POLLERR)) != 0;
}

class Watcher {
 public:
  Watcher(ipc::MessageSocket socket, const std::filesystem::path& proc, const TreeRoots& roots)
      : socket_(std::move(socket)), proc_(proc), tree_(proc, roots) {}

  void run() {
    unsigned count = 1;
    std::int64_t cost_ns = 0;
    while (!other_end_closed(socket_.fd(), next_look_ns(count, cost_ns))) {
      const std::int64_t before_ns = thread_cpu_ns();
      look();
      cost_ns = thread_cpu_ns() - before_ns;
      ++count;
    }
  }

 private:
  void look() {
    ClientScan scan = scan_clients(proc_, tree_.refresh(), kBudgetNs);
    scan.order.unreadable += static_cast<std::uint32_t>(tree_.left_out());
    for (const std::string& driver : scan.other_drivers) {
      if (other_drivers_.insert(driver).second) {
        send(ipc::MarkOrder{scan.order.time_ns, driver});
      }
    }
    // Most programs have no client: that is said once.
    if (!scan.order.clients.empty() || had_clients_ || scan.order.unreadable != unreadable_) {
      unreadable_ = scan.order.unreadable;
      had_clients_ = !scan.order.clients.empty();
      send(std::move(scan.order));
    }
  }

  void send(const ipc::Order& order) const {
    // When the supervisor is stopped the socket is full: the next reading has the same totals.
    [[maybe_unused]] const Status sent = socket_.send(order);
  }

  ipc::MessageSocket socket_;
  const std::filesystem::path& proc_;
  ProcessTree tree_;
  std::set<std::string> other_drivers_;
  std::uint32_t unreadable_ = 0;
  bool had_clients_ = false;
};

}  // namespace

std::int64_t next_look_ns(unsigned count, std::int64_t cost_ns) {
  constexpr unsigned kDoublings = 4;  // then it is longer than usual
  const std::int64_t usual_ns =
      count > kDoublings ? kUsualNs : std::min(kUsualNs, kFirstLookNs << (count - 1));
  return std::max(usual_ns, cost_ns * kCostShare);
}

Result<ProcessWatch> ProcessWatch::start(const std::filesystem::path& proc,
                                         const TreeRoots& roots) {
  Result<std::pair<ipc::MessageSocket, ipc::MessageSocket>> ends = ipc::MessageSocket::make_pair();
  if (!ends) {
    return tl::unexpected(ends.error());
  }
  auto& [here, there] = *ends;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return fail_errno(errno, "cannot start the process that watches the command's processes");
  }
  if (pid == 0) {
    UniqueFd socket(::fcntl(there.fd(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    recorder::isolate_process(socket.get());
    ::prctl(PR_SET_NAME, "gputrace-procs");
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == parent) {
      TreeRoots others = roots;
      others.not_of_it.push_back(::getpid());
      Watcher(ipc::MessageSocket(std::move(socket)), proc, others).run();
    }
    ::_exit(0);
  }
  return ProcessWatch(pid, std::move(here));
}

std::optional<ipc::Order> ProcessWatch::receive() const {
  Result<std::optional<ipc::Order>> received = socket_.receive_order();
  return received ? std::move(*received) : std::nullopt;
}

}  // namespace gputrace::commands
