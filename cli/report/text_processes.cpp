#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/report/text_format.h"

namespace gputrace::report {
namespace {

constexpr std::size_t kMaxProcesses = 10;
constexpr std::size_t kPidWidth = 8;
constexpr std::size_t kEngineWidth = 8;
constexpr std::size_t kMemoryWidth = 9;
constexpr std::size_t kMinNameWidth = 12;
/// More would leave no room for names.
constexpr std::size_t kMaxEngines = 4;

std::string memory_text(const std::optional<std::uint64_t>& bytes) {
  if (!bytes) {
    return "?";
  }
  const double mib = static_cast<double>(*bytes) / (1024 * 1024);
  return mib >= 1024 ? fmt::format("{:.2f} GiB", mib / 1024) : fmt::format("{:.0f} MiB", mib);
}

/// Engines that somebody used, most used first.
std::vector<std::string> used_engines(const std::vector<Process>& processes) {
  std::map<std::string, double> totals;
  for (const Process& process : processes) {
    for (const auto& [engine, seconds] : process.gpu_s) {
      totals[engine] += seconds;
    }
  }
  std::vector<std::string> engines;
  for (const auto& [engine, seconds] : totals) {
    if (seconds > 0) {
      engines.push_back(engine);
    }
  }
  std::stable_sort(engines.begin(), engines.end(),
                   [&totals](const auto& a, const auto& b) { return totals.at(a) > totals.at(b); });
  return engines;
}

std::string engine_text(const Process& process, const std::string& engine) {
  const auto it = process.gpu_s.find(engine);
  return it == process.gpu_s.end() ? "-" : fmt::format("{:.2f}", it->second);
}

void append_frames(Page& page, const Report& report) {
  if (!report.frames) {
    return;
  }
  const Frames& frames = *report.frames;
  page.line();
  page.line("Frames", Ink::kBold);
  page.paragraph(
      fmt::format("  {} frames, {:.1f} per second; half of them took up to {:.2f} ms, "
                  "99 % up to {:.2f} ms",
                  format_count(frames.count), frames.fps, frames.median_ms, frames.p99_ms),
      4);
}

}  // namespace

void append_processes(Page& page, const Report& report) {
  append_frames(page, report);
  const std::vector<Process>& processes = report.processes;
  if (processes.empty()) {
    return;
  }
  std::vector<std::string> engines = used_engines(processes);
  const std::size_t all_engines = engines.size();
  const std::size_t fixed = kPidWidth + 2 * (kMemoryWidth + 1) + 2;
  const std::size_t room = page.text_width() - fixed - kMinNameWidth;
  engines.resize(std::min({engines.size(), kMaxEngines, room / (kEngineWidth + 1)}));
  const std::size_t name_width = std::min<std::size_t>(
      page.text_width() - fixed - engines.size() * (kEngineWidth + 1), 2 * kMinNameWidth);

  page.line();
  page.line("Processes, seconds of each engine and the most memory", Ink::kBold);
  std::string head = fmt::format("{:>{}}  {:<{}}", "pid", kPidWidth, "name", name_width);
  for (const std::string& engine : engines) {
    head += fmt::format(" {:>{}}", clip(page.safe(engine), kEngineWidth), kEngineWidth);
  }
  head += fmt::format(" {:>{}} {:>{}}", "VRAM", kMemoryWidth, "GTT", kMemoryWidth);
  page.line(head, Ink::kDim);
  const bool several_gpus = std::any_of(
      processes.begin(), processes.end(),
      [&processes](const Process& process) { return process.gpu != processes.front().gpu; });
  for (std::size_t i = 0; i < std::min(processes.size(), kMaxProcesses); ++i) {
    const Process& process = processes[i];
    const std::string name = clip(page.safe(process.name), name_width);
    std::string line = fmt::format("{:>{}}  {}{:{}}", process.pid, kPidWidth, name, "",
                                   name_width - display_width(name));
    for (const std::string& engine : engines) {
      line += fmt::format(" {:>{}}", engine_text(process, engine), kEngineWidth);
    }
    line += fmt::format(" {:>{}} {:>{}}", memory_text(process.vram_bytes), kMemoryWidth,
                        memory_text(process.gtt_bytes), kMemoryWidth);
    page.line(line);
    if (several_gpus) {
      page.line(clip(fmt::format("{:>{}}  on GPU {}", "", kPidWidth, page.safe(process.gpu)),
                     page.text_width()),
                Ink::kDim);
    }
  }
  if (processes.size() > kMaxProcesses || all_engines > engines.size()) {
    page.line(fmt::format("  {} of {} processes, {} of {} engines shown; --json has all",
                          std::min(processes.size(), kMaxProcesses), processes.size(),
                          engines.size(), all_engines),
              Ink::kDim);
  }
}

}  // namespace gputrace::report
