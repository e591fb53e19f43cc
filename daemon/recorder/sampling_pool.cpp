#include "daemon/recorder/sampling_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace gputrace::recorder {

namespace {

// More GPUs than any machine has, less threads than would hurt it.
constexpr std::size_t kMostGpus = 32;

void close_unused(const GpuOpening::Opened& opened) {
  if (opened) {
    opened->sampling->close_if_unused();
  }
}

}  // namespace

SamplingPool::SamplingPool(ReaderFactory open_gpu, std::function<void()> changed)
    : open_gpu_(std::move(open_gpu)), changed_(std::move(changed)) {
  samplings_.reserve(kMostGpus);  // first() is called without the lock
  samplings_.push_back(std::make_unique<SharedSampling>(open_gpu_, changed_));
}

Result<SamplingPool::OpenedSampling> SamplingPool::open(const GpuRequest& request) {
  const Result<SharedSampling*> sampling = find(request.gpu);
  if (!sampling) {
    return tl::unexpected(sampling.error());
  }
  Result<GpuOnOffer> gpu = (*sampling)->open(request);
  if (!gpu) {
    return tl::unexpected(gpu.error());
  }
  if (!gpu->identity.pci.empty() && gpu->identity.pci != request.gpu) {
    (*sampling)->close_if_unused();
    return fail(ErrorCode::kBusy,
                fmt::format("{} is not the GPU at {}", gpu->identity.name, request.gpu));
  }
  return OpenedSampling{*sampling, std::move(*gpu)};
}

Result<SharedSampling*> SamplingPool::find(const std::string& pci) {
  const std::scoped_lock lock(mutex_);
  for (const auto& sampling : samplings_) {
    if (sampling->gpu() == pci) {
      return sampling.get();
    }
  }
  for (std::size_t i = 1; i < samplings_.size(); ++i) {
    if (samplings_[i]->is_idle()) {
      return samplings_[i].get();
    }
  }
  if (samplings_.size() == kMostGpus) {
    return fail(ErrorCode::kBusy, "too many GPUs are recorded");
  }
  return samplings_.emplace_back(std::make_unique<SharedSampling>(open_gpu_, changed_)).get();
}

ipc::HealthReport SamplingPool::health() const {
  const std::scoped_lock lock(mutex_);
  ipc::HealthReport report = samplings_.front()->health();
  for (std::size_t i = 1; i < samplings_.size(); ++i) {
    const ipc::HealthReport other = samplings_[i]->health();
    report.sessions += other.sessions;
    report.stuck_s = std::max(report.stuck_s, other.stuck_s);
  }
  return report;
}

std::shared_ptr<GpuOpening> GpuOpening::begin(SamplingPool& pool, GpuRequest request,
                                              std::function<void()> done) {
  auto opening = std::make_shared<GpuOpening>();
  std::thread([opening, &pool, request = std::move(request), done = std::move(done)] {
    Opened opened = pool.open(request);
    {
      const std::scoped_lock lock(opening->mutex_);
      if (opening->abandoned_) {
        close_unused(opened);
        return;
      }
      opening->opened_ = std::move(opened);
    }
    done();
  }).detach();  // whoever waited for it might wait for ever
  return opening;
}

std::optional<GpuOpening::Opened> GpuOpening::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(opened_, std::nullopt);
}

void GpuOpening::abandon() {
  const std::scoped_lock lock(mutex_);
  abandoned_ = true;
  if (opened_) {
    close_unused(*opened_);
  }
}

}  // namespace gputrace::recorder
