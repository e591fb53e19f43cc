#include "daemon/os/sensors/pmu_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "daemon/base/unique_fd.h"

namespace gputrace::os {

namespace {

// Counters of the fabric and the memory controllers have 48 bits. Those of the memory controllers
// stop there, and the kernel starts them anew when it sees bit 47 (arch/x86/events/amd/uncore.c):
// more in one interval may have been cut off.
constexpr std::uint64_t kMostCounts = std::uint64_t{1} << 47;

// An interval may hold what was counted shortly before it: RAPL's registers move once a ms.
constexpr double kSlackSeconds = 0.1;

// Memory that is refreshed, a package that is powered: whoever counts nothing for so long counts
// something else.
constexpr std::uint64_t kSilenceNs = 1'000'000'000;

constexpr std::string_view kShared =
    "other events share the counters: counts are scaled by the share of time counted";

enum class Problem { kNone, kOpen, kRead, kTooMuch, kSilent };

class PmuReader final : public sampler::SensorReader {
 public:
  PmuReader(PmuSource source, PerfEventOpen open, SystemRoots roots)
      : name_(std::move(source.name)),
        sensors_(std::move(source.sensors)),
        totals_(sensors_.size()),
        counted_(sensors_.size()),
        open_(std::move(open)),
        roots_(std::move(roots)) {
    counters_.reserve(source.counters.size());
    for (PmuCounter& counter : source.counters) {
      counters_.push_back({std::move(counter), {}, {}});
    }
  }

  /// 0, or the errno of the counter that could not be had.
  int open_all() {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      OpenCounter& counter = counters_[i];
      const int fd = open_(counter.counter.event, counter.counter.cpu);
      if (fd < 0) {
        return close_all(Problem::kOpen, i, -fd);
      }
      counter.fd.reset(fd);
    }
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      if (const int error = read_perf_event(counters_[i].fd.get(), counters_[i].last); error != 0) {
        return close_all(Problem::kRead, i, error);
      }
    }
    is_open_ = true;
    return 0;
  }

  [[nodiscard]] PerfRefusal why_not_opened() const {
    const PmuCounter& counter = counters_[failed_].counter;
    return problem_ == Problem::kOpen
               ? explain_perf_error(error_, counter.what, counter.cpu, roots_)
               : PerfRefusal{last_error(), "", false};
  }

  /// Before the reader is handed out: says so where the hardware counters are not ours alone.
  void note_sharing() {
    for (const OpenCounter& counter : counters_) {
      std::string& decision = sensors_[counter.counter.series].decision;
      if (counter.last.running_ns < counter.last.enabled_ns &&
          decision.find(kShared) == std::string::npos) {
        decision += (decision.empty() ? "" : "; ") + std::string(kShared);
      }
    }
  }

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::span<const sampler::SensorDescription> sensors() const noexcept override {
    return sensors_;
  }
  [[nodiscard]] bool needs_gpu_awake() const noexcept override { return false; }

  [[nodiscard]] sampler::SensorOutcome read(
      std::span<std::optional<double>> values) noexcept override {
    std::fill(values.begin(), values.end(), std::nullopt);
    problem_ = Problem::kNone;
    if (!is_open_) {
      // What passed uncounted belongs to no interval: the first counts come with the next read.
      return open_all() == 0 ? sampler::SensorOutcome::kRead : sampler::SensorOutcome::kFailed;
    }
    std::fill(counted_.begin(), counted_.end(), true);
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      PerfCount now;
      if (const int error = read_perf_event(counters_[i].fd.get(), now); error != 0) {
        close_all(Problem::kRead, i, error);
        return sampler::SensorOutcome::kFailed;
      }
      take(i, now);
    }
    bool any = false;
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      if (counted_[i] && totals_[i] > 0) {
        values[i] = totals_[i];
        any = true;
      }
    }
    if (!any && problem_ == Problem::kNone && counters_.front().last.enabled_ns > kSilenceNs) {
      problem_ = Problem::kSilent;
    }
    if (problem_ == Problem::kNone) {
      return sampler::SensorOutcome::kRead;
    }
    std::fill(values.begin(), values.end(), std::nullopt);
    return sampler::SensorOutcome::kRejected;
  }

  [[nodiscard]] std::string last_error() const override {
    const PmuCounter& counter = counters_[failed_].counter;
    switch (problem_) {
      case Problem::kNone:
        return "";
      case Problem::kOpen:
        return why_not_opened().reason;
      case Problem::kRead:
        return error_from_errno(error_, fmt::format("cannot read the counter of {} on CPU {}",
                                                    counter.what, counter.cpu))
            .message;
      case Problem::kTooMuch:
        return fmt::format("{} on CPU {} counted more than there can be since the last read",
                           counter.what, counter.cpu);
      case Problem::kSilent:
        break;
    }
    return fmt::format(
        "{} has counted nothing since it was opened: this processor does not have "
        "the event",
        name_);
  }

 private:
  struct OpenCounter {
    PmuCounter counter;
    UniqueFd fd;
    PerfCount last;
  };

  int close_all(Problem problem, std::size_t failed, int error) noexcept {
    for (OpenCounter& counter : counters_) {
      counter.fd.reset();
    }
    is_open_ = false;
    problem_ = problem;
    failed_ = failed;
    error_ = error;
    return error;
  }

  void take(std::size_t index, const PerfCount& now) noexcept {
    OpenCounter& counter = counters_[index];
    const PerfCount& last = counter.last;
    if (now.enabled_ns == last.enabled_ns) {
      return;
    }
    if (now.running_ns <= last.running_ns) {
      // Its turn did not come. The next read speaks of both intervals.
      counted_[counter.counter.series] = false;
      return;
    }
    const auto enabled_ns = static_cast<double>(now.enabled_ns - last.enabled_ns);
    const auto running_ns = static_cast<double>(now.running_ns - last.running_ns);
    const std::uint64_t counts = now.value - last.value;
    const double amount =
        static_cast<double>(counts) * (enabled_ns / running_ns) * counter.counter.unit_per_count;
    counter.last = now;
    if (counts >= kMostCounts ||
        amount > counter.counter.most_per_s * (enabled_ns * 1e-9 + kSlackSeconds)) {
      problem_ = Problem::kTooMuch;
      failed_ = index;
      return;
    }
    totals_[counter.counter.series] += amount;
  }

  std::string name_;
  std::vector<sampler::SensorDescription> sensors_;
  std::vector<double> totals_;
  std::vector<bool> counted_;
  std::vector<OpenCounter> counters_;
  PerfEventOpen open_;
  SystemRoots roots_;
  bool is_open_ = false;
  Problem problem_ = Problem::kNone;
  std::size_t failed_ = 0;
  int error_ = 0;
};

}  // namespace

OpenedSensors open_pmu_source(PmuSource source, const PerfEventOpen& open,
                              const SystemRoots& roots) {
  OpenedSensors opened;
  SourceFinding finding{source.name, SourceState::kWorks, 0, "", "", ""};
  std::string loses = std::move(source.loses);
  auto reader = std::make_unique<PmuReader>(std::move(source), open, roots);
  if (const int error = reader->open_all(); error != 0) {
    const PerfRefusal refusal = reader->why_not_opened();
    finding.state = refusal.is_permission ? SourceState::kRefused : SourceState::kBroken;
    finding.error_number = error;
    finding.reason = refusal.reason;
    finding.fix = refusal.fix;
    finding.loses = std::move(loses);
  } else {
    reader->note_sharing();
    opened.readers.push_back(std::move(reader));
  }
  opened.findings.push_back(std::move(finding));
  return opened;
}

OpenedSensors pmu_not_usable(std::string name, const Error& error, std::string loses) {
  OpenedSensors opened;
  const bool absent = error.code == ErrorCode::kNotFound || error.code == ErrorCode::kUnsupported;
  opened.findings.push_back({std::move(name), absent ? SourceState::kAbsent : SourceState::kBroken,
                             0, error.message, "", std::move(loses)});
  return opened;
}

}  // namespace gputrace::os
