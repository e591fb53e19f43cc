#include "daemon/simulated_gpu/steady_signal.h"

#include <bit>

namespace gputrace::simulated_gpu {

namespace {

void add_share(OperatingPoint& mean, const Period& period, double share) {
  mean.length_ns += period.length_ns * share;
  mean.gpu_ns += period.gpu_ns * share;
  mean.work.flops += period.work.flops * share;
  mean.work.dram_read_bytes += period.work.dram_read_bytes * share;
  mean.work.dram_written_bytes += period.work.dram_written_bytes * share;
  mean.work.threads += period.work.threads * share;
  mean.work.simd_busy_ns += period.work.simd_busy_ns * share;
  mean.work.ta_busy_ns += period.work.ta_busy_ns * share;
  mean.work.cb_busy_ns += period.work.cb_busy_ns * share;
}

}  // namespace

OperatingPoint SteadySignal::idle_point(const GpuDescription& gpu) {
  OperatingPoint point;
  point.clock_ghz = gpu.min_clock_ghz;
  point.power_w = gpu.base_w * 0.4;  // [A]
  return point;
}

Result<SteadySignal> SteadySignal::build(const GpuDescription& gpu, const Workload& workload,
                                         const SignalOptions& options) {
  if (workload.passes.empty()) {
    return SteadySignal(idle_point(gpu), {});
  }
  const auto solved = solve_clock(gpu, workload, options.power_limit_w, options.seed);
  if (!solved) {
    return tl::unexpected(solved.error());
  }
  OperatingPoint mean;
  mean.clock_ghz = solved->clock_ghz;
  mean.power_w = solved->power_w;
  mean.cpu_w = solved->cpu_w;
  mean.cpu_ms = solved->cpu_ms;
  std::vector<Tape> variants;
  for (int i = 0; i < options.variants; ++i) {
    auto period = run_period(gpu, workload,
                             {.clock_ghz = solved->clock_ghz,
                              .seed = mix64(options.seed + 1000 + static_cast<std::uint64_t>(i)),
                              .cpu_ms = solved->cpu_ms,
                              .weight = (i + 0.5) / options.variants});
    if (!period) {
      return tl::unexpected(period.error());
    }
    add_share(mean, *period, 1.0 / options.variants);
    std::optional<Tape>& tape = period->tape;
    GPUTRACE_CHECK(tape.has_value());
    variants.push_back(std::move(*tape));
  }
  return SteadySignal(mean, std::move(variants));
}

SteadySignal::SteadySignal(const OperatingPoint& point, std::vector<Tape> variants)
    : point_(point), variants_(std::move(variants)) {
  GPUTRACE_CHECK(variants_.empty() ||
                 (std::has_single_bit(variants_.size()) && variants_.size() <= kMaxVariants));
  for (const Tape& tape : variants_) {
    superblock_ns_ += tape.length_ns();
  }
}

std::size_t SteadySignal::variant_at(std::uint64_t block, std::size_t place,
                                     std::uint64_t order) const {
  // a i + c modulo a power of two, a odd: a permutation, another for each superblock.
  const std::uint64_t hash = mix64(order ^ block);
  const std::uint64_t factor = (hash & 0xffU) | 1U;
  const std::uint64_t offset = hash >> 8U & 0xffU;
  return (factor * place + offset) & (variants_.size() - 1);
}

UnitMask SteadySignal::state_at(std::uint64_t x_ns, std::uint64_t order) const {
  if (variants_.empty()) {
    return 0;
  }
  const std::uint64_t block = x_ns / superblock_ns_;
  std::uint64_t rest = x_ns % superblock_ns_;
  for (std::size_t place = 0;; ++place) {
    const Tape& tape = variants_[variant_at(block, place, order)];
    if (rest < tape.length_ns()) {
      return tape.state_at(rest);
    }
    rest -= tape.length_ns();
  }
}

std::uint64_t SteadySignal::busy_ns(std::uint64_t x_ns, Unit unit, std::uint64_t order) const {
  if (variants_.empty()) {
    return 0;
  }
  const std::uint64_t block = x_ns / superblock_ns_;
  std::uint64_t rest = x_ns % superblock_ns_;
  std::uint64_t sum = 0;
  for (const Tape& tape : variants_) {
    sum += tape.busy_ns(tape.length_ns(), unit);
  }
  sum *= block;
  for (std::size_t place = 0;; ++place) {
    const Tape& tape = variants_[variant_at(block, place, order)];
    if (rest < tape.length_ns()) {
      return sum + tape.busy_ns(rest, unit);
    }
    sum += tape.busy_ns(tape.length_ns(), unit);
    rest -= tape.length_ns();
  }
}

}  // namespace gputrace::simulated_gpu
