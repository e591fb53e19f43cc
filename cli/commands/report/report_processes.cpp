#include "cli/commands/report/report_processes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace gputrace::commands {
namespace {

using store::ClientUsage;
using Engines = std::map<std::string, std::uint64_t>;
using ClientKey = std::pair<std::string, std::uint64_t>;  // (pdev, client id)
using ProcessKey = std::pair<std::int64_t, std::string>;  // (pid, pdev)

double total_of(const report::Process& process) {
  double total = 0;
  for (const auto& [engine, seconds] : process.gpu_s) {
    total += seconds;
  }
  return total;
}

class ProcessSums {
 public:
  ProcessSums(const analysis::TimeRange& shown, std::int64_t session_start_ns)
      : shown_(shown), session_start_ns_(session_start_ns) {}

  void add(const ClientUsage& usage) {
    const ClientKey client{usage.pdev, usage.client_id};
    const auto last = last_.find(client);
    const bool known = last != last_.end();
    const bool inside = usage.time_ns >= shown_.start_ns && usage.time_ns <= shown_.end_ns;
    if (inside) {
      Sums& sums = sums_of(usage);
      add_engines(usage, known ? last->second.engine_ns : before_first(usage), sums.process);
    }
    last_[client] = usage;
    if (usage.time_ns <= shown_.end_ns) {
      // What a client held before the stretch it holds at its beginning.
      set_memory(client, usage, inside);
    }
  }

  std::vector<report::Process> take() {
    std::vector<report::Process> processes;
    for (auto& [key, sums] : sums_) {
      if (sums.seen_inside) {
        processes.push_back(std::move(sums.process));
      }
    }
    std::stable_sort(processes.begin(), processes.end(),
                     [](const auto& a, const auto& b) { return total_of(a) > total_of(b); });
    return processes;
  }

 private:
  struct Memory {
    std::optional<std::uint64_t> vram;
    std::optional<std::uint64_t> gtt;
  };
  /// What the clients of a process hold now; absent when none says.
  struct Held {
    std::uint64_t bytes = 0;
    std::size_t clients = 0;

    void change(const std::optional<std::uint64_t>& from, const std::optional<std::uint64_t>& to) {
      bytes += to.value_or(0) - from.value_or(0);  // wraps, and back
      clients += std::size_t{to ? 1U : 0U} - std::size_t{from ? 1U : 0U};
    }
    [[nodiscard]] std::optional<std::uint64_t> value() const {
      return clients > 0 ? std::optional(bytes) : std::nullopt;
    }
  };
  struct Sums {
    report::Process process;
    std::map<std::uint64_t, Memory> clients;  ///< by client id: what each holds now
    Held vram;
    Held gtt;
    bool seen_inside = false;
  };

  Sums& sums_of(const ClientUsage& usage) {
    Sums& sums = sums_[{usage.pid, usage.pdev}];
    sums.process.pid = usage.pid;
    sums.process.name = usage.process;
    sums.process.gpu = usage.pdev;
    return sums;
  }

  /// A client has used no engine for longer than the session lasts, unless it is older than that:
  /// then what it had before is not of this session.
  [[nodiscard]] Engines before_first(const ClientUsage& usage) const {
    const std::int64_t since_start = usage.time_ns - session_start_ns_;
    const bool older = std::any_of(
        usage.engine_ns.begin(), usage.engine_ns.end(), [since_start](const auto& engine) {
          return since_start < 0 || engine.second > static_cast<std::uint64_t>(since_start);
        });
    return older ? usage.engine_ns : Engines{};
  }

  static void add_engines(const ClientUsage& usage, const Engines& before,
                          report::Process& process) {
    for (const auto& [engine, total_ns] : usage.engine_ns) {
      const auto it = before.find(engine);
      const std::uint64_t from = it == before.end() ? 0 : it->second;
      // A smaller total than before is a new beginning: what was used up to it is not known.
      process.gpu_s[engine] += total_ns > from ? static_cast<double>(total_ns - from) / 1e9 : 0;
    }
  }

  void set_memory(const ClientKey& client, const ClientUsage& usage, bool inside) {
    Sums& sums = sums_of(usage);
    sums.seen_inside = sums.seen_inside || inside;
    Memory& memory = sums.clients[client.second];
    sums.vram.change(memory.vram, usage.vram_bytes);
    sums.gtt.change(memory.gtt, usage.gtt_bytes);
    memory = {usage.vram_bytes, usage.gtt_bytes};
    const std::optional<std::uint64_t> vram = sums.vram.value();
    const std::optional<std::uint64_t> gtt = sums.gtt.value();
    // Before the stretch only the newest sum counts; inside it the largest.
    sums.process.vram_bytes = inside ? std::max(sums.process.vram_bytes, vram) : vram;
    sums.process.gtt_bytes = inside ? std::max(sums.process.gtt_bytes, gtt) : gtt;
  }

  analysis::TimeRange shown_;
  std::int64_t session_start_ns_;
  std::map<ClientKey, ClientUsage> last_;
  std::map<ProcessKey, Sums> sums_;
};

}  // namespace

Result<std::vector<report::Process>> processes_of(const store::SessionReader& session,
                                                  const analysis::TimeRange& shown,
                                                  std::int64_t session_start_ns) {
  ProcessSums sums(shown, session_start_ns);
  const Status status = session.for_each_client_usage([&sums](const ClientUsage& usage) -> Status {
    sums.add(usage);
    return {};
  });
  if (!status) {
    return tl::unexpected<Error>(status.error());
  }
  return sums.take();
}

std::optional<report::Frames> frames_of(std::span<const store::Frame> frames) {
  std::vector<double> milliseconds;
  double total_ms = 0;
  for (const store::Frame& frame : frames) {
    milliseconds.push_back(static_cast<double>(frame.duration_ns) / 1e6);
    total_ms += milliseconds.back();
  }
  const std::optional<double> median = analysis::quantile(milliseconds, 0.5);
  const std::optional<double> p99 = analysis::quantile(milliseconds, 0.99);
  if (!median || !p99 || total_ms <= 0) {
    return std::nullopt;
  }
  return report::Frames{.count = frames.size(),
                        .median_ms = *median,
                        .p99_ms = *p99,
                        .fps = static_cast<double>(frames.size()) * 1000 / total_ms};
}

}  // namespace gputrace::commands
