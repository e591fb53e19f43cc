#include "cli/commands/record/gpu_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "daemon/base/time.h"
#include "daemon/os/drm_clients.h"

namespace gputrace::commands {

namespace {

std::optional<os::GpuDevice> find_gpu(const os::SystemRoots& roots, const std::string& pci) {
  const Result<std::vector<os::GpuDevice>> gpus = os::list_gpus(roots);
  if (gpus) {
    for (const os::GpuDevice& gpu : *gpus) {
      if (gpu.identity.pci == pci) {
        return gpu;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<pid_t> GpuUse::begin(const ipc::ReadyAnswer& ready,
                                   const std::optional<TreeRoots>& tree) {
  begin_ns_ = monotonic_now_ns();
  if (!ready.pci.empty()) {
    choice_.emplace(ready.pci);
    note_sleep(ready.pci);
  }
  if (!tree) {
    return std::nullopt;
  }
  Result<ProcessWatch> watch = ProcessWatch::start(roots_.proc, *tree);
  if (!watch) {
    warnings_.push_back(watch.error().message);
    return std::nullopt;
  }
  watch_.emplace(std::move(*watch));
  return watch_->pid();
}

void GpuUse::take(RecorderLink& recorder) {
  const std::optional<ipc::Order> order = watch_ ? watch_->receive() : std::nullopt;
  if (!order) {
    watch_.reset();
    return;
  }
  if (const auto* reading = std::get_if<ipc::ProcessesOrder>(&*order)) {
    take_reading(*reading, recorder);
  } else if (const auto* driver = std::get_if<ipc::MarkOrder>(&*order);
             driver != nullptr && told_.insert(driver->text).second) {
    notes_.push_back(
        fmt::format("the workload uses a GPU of the driver {} too, which gputrace cannot sample",
                    driver->text));
  }
}

void GpuUse::take_reading(const ipc::ProcessesOrder& reading, RecorderLink& recorder) {
  // One that cannot be sent is lost; the next has the same totals and more.
  [[maybe_unused]] const Status sent = recorder.processes(reading);
  if (!choice_) {
    return;
  }
  if (const std::optional<std::string> elsewhere = choice_->take(reading)) {
    found_elsewhere(*elsewhere, reading.time_ns, *choice_, recorder);
  }
}

void GpuUse::found_elsewhere(const std::string& pdev, std::int64_t time_ns, GpuChoice& choice,
                             RecorderLink& recorder) {
  if (!gpu_was_named_ && !switched_) {
    const std::string before = choice.recorded();
    if (!recorder.switch_gpu({pdev})) {
      return;  // the next reading says it again
    }
    switched_ = true;
    choice.switched_to(pdev);
    told_.insert(pdev);
    notes_.push_back(fmt::format(
        "the workload uses {}: after {:.1f} s the recording changed to it from {}", describe(pdev),
        static_cast<double>(time_ns - begin_ns_) / 1e9, describe(before)));
    return;
  }
  if (!told_.insert(pdev).second) {
    return;
  }
  if (gpu_was_named_) {
    warnings_.push_back(fmt::format(
        "the workload used {}, and the recorded GPU, which --gpu named, did little for it",
        describe(pdev)));
  } else {
    warnings_.push_back(fmt::format(
        "the workload used {} later on; a recording changes its GPU only once", describe(pdev)));
  }
}

std::string GpuUse::describe(const std::string& pdev) const {
  const std::optional<os::GpuDevice> gpu = find_gpu(roots_, pdev);
  return gpu ? fmt::format("{} ({})", gpu->identity.name, pdev) : "the GPU " + pdev;
}

void GpuUse::note_sleep(const std::string& pci) {
  const std::optional<os::GpuDevice> gpu = find_gpu(roots_, pci);
  if (gpu && os::has_runtime_power_management(*gpu)) {
    notes_.push_back(
        fmt::format("{} may sleep when nothing uses it; while it is awake, sampling keeps it so",
                    gpu->identity.name));
  }
}

}  // namespace gputrace::commands
