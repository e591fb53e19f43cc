#include "cli/commands/record/client_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/commands/record/drm_fdinfo.h"
#include "cli/commands/record/process_tree.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"

namespace gputrace::commands {

namespace {

constexpr std::string_view kAmdDriver = "amdgpu";
constexpr int kDescriptorsPerLook = 256;  ///< at the clock

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};
using Folder = std::unique_ptr<DIR, CloseDir>;

Folder open_folder(int at, const char* name) {
  UniqueFd fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Folder folder(fd ? ::fdopendir(fd.get()) : nullptr);
  if (folder) {
    static_cast<void>(fd.release());
  }
  return folder;
}

std::string read_up_to(int at, const std::string& name, std::size_t max_bytes) {
  const UniqueFd file(::openat(at, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string text(max_bytes, '\0');
  std::size_t size = 0;
  while (file && size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got <= 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

/// ".../dri/card1" or ".../dri/renderD128": a container may have its nodes elsewhere. stat(2) would
/// be certain, but asks the file system of each open file, and one on the network may hang.
bool is_drm_node(std::string_view target) {
  const std::size_t at = target.rfind("/dri/");
  if (at == std::string_view::npos) {
    return false;
  }
  const std::string_view node = target.substr(at + 5);
  return node.starts_with("renderD") || node.starts_with("card");
}

class Scan {
 public:
  Scan(const std::filesystem::path& proc, std::int64_t budget_ns)
      : proc_(proc),
        proc_fd_(::open(proc.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        end_cpu_ns_(thread_cpu_ns() + budget_ns) {}

  void look_at(pid_t pid) {
    if (is_over()) {
      ++result_.order.unreadable;
      return;
    }
    const UniqueFd process(
        ::openat(proc_fd_.get(), std::to_string(pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!process) {
      return;
    }
    errno = 0;
    const Folder descriptors = open_folder(process.get(), "fd");
    if (!descriptors) {
      // Without its memory a process that has ended may not be read either.
      const bool refused = errno == EACCES || errno == EPERM;
      const std::optional<ProcessStat> stat =
          refused ? read_process_stat(proc_, pid) : std::nullopt;
      result_.order.unreadable += stat && stat->state != 'Z' && stat->state != 'X' ? 1 : 0;
      return;
    }
    look_at_descriptors(pid, process.get(), descriptors.get());
  }

  [[nodiscard]] ClientScan take() { return std::move(result_); }

 private:
  [[nodiscard]] bool is_over() const { return thread_cpu_ns() >= end_cpu_ns_; }

  void look_at_descriptors(pid_t pid, int process, DIR* descriptors) {
    int looked_at = 0;
    // One thread uses this DIR, so readdir(3) is safe.
    while (const dirent* entry = ::readdir(descriptors)) {  // NOLINT(concurrency-mt-unsafe)
      if (++looked_at % kDescriptorsPerLook == 0 && is_over()) {
        ++result_.order.unreadable;
        return;
      }
      std::array<char, 256> target{};
      const ssize_t length =
          ::readlinkat(::dirfd(descriptors), entry->d_name, target.data(), target.size());
      if (length <= 0 ||
          !is_drm_node(std::string_view(target.data(), static_cast<std::size_t>(length)))) {
        continue;
      }
      const std::string text =
          read_up_to(process, std::string("fdinfo/") + entry->d_name, kMaxFdinfoBytes);
      if (const std::optional<DrmFdinfo> info = parse_drm_fdinfo(text)) {
        take(pid, process, *info);
      }
    }
  }

  void take(pid_t pid, int process, const DrmFdinfo& info) {
    if (info.driver != kAmdDriver) {
      result_.other_drivers.insert(info.driver);
      return;
    }
    if (info.pdev.empty() || !info.client_id ||
        !known_.insert({info.pdev, *info.client_id}).second) {
      return;
    }
    if (result_.order.clients.size() == ipc::kMaxClients) {
      ++result_.order.left_out;
      return;
    }
    std::string name = read_up_to(process, "comm", ipc::kMaxClientNameBytes);
    name.resize(std::min(name.size(), name.find('\n')));
    result_.order.clients.push_back({pid, std::move(name), info.pdev, *info.client_id,
                                     info.engine_ns, info.vram_bytes, info.gtt_bytes});
  }

  const std::filesystem::path& proc_;
  UniqueFd proc_fd_;
  std::int64_t end_cpu_ns_;
  std::set<std::pair<std::string, std::uint64_t>> known_;
  ClientScan result_;
};

}  // namespace

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

ClientScan scan_clients(const std::filesystem::path& proc, std::span<const pid_t> processes,
                        std::int64_t budget_ns) {
  Scan scan(proc, budget_ns);
  const std::int64_t begin_ns = monotonic_now_ns();
  for (const pid_t pid : processes) {
    scan.look_at(pid);
  }
  ClientScan result = scan.take();
  // The middle of the look is nearest to all of its readings.
  result.order.time_ns = begin_ns + (monotonic_now_ns() - begin_ns) / 2;
  return result;
}

}  // namespace gputrace::commands
