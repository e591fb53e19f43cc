#include "tests/rig/word_source.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gputrace::rig {
namespace {

class FunctionWords final : public WordSource {
 public:
  explicit FunctionWords(std::function<std::uint32_t(std::uint32_t, std::int64_t)> function)
      : function_(std::move(function)) {}

  [[nodiscard]] std::uint32_t word(std::uint32_t dword_offset,
                                   std::int64_t monotonic_ns) noexcept override {
    return function_(dword_offset, monotonic_ns);
  }

 private:
  std::function<std::uint32_t(std::uint32_t, std::int64_t)> function_;
};

class ReaderWords final : public WordSource {
 public:
  explicit ReaderWords(std::unique_ptr<sampler::RegisterReader> reader)
      : reader_(std::move(reader)) {}

  [[nodiscard]] std::uint32_t word(std::uint32_t dword_offset,
                                   std::int64_t monotonic_ns) noexcept override {
    const auto registers = reader_->registers();
    if (monotonic_ns != read_at_ns_) {
      read_at_ns_ = monotonic_ns;
      const std::size_t count = std::min(registers.size(), words_.size());
      reader_->read(monotonic_ns, {std::span(words_).first(count), std::span(states_).first(count),
                                   std::span(cost_ns_).first(count)});
    }
    for (std::size_t i = 0; i < registers.size() && i < words_.size(); ++i) {
      if (registers[i].dword_offset == dword_offset) {
        return words_.at(i);
      }
    }
    return 0;
  }

 private:
  std::unique_ptr<sampler::RegisterReader> reader_;
  std::int64_t read_at_ns_ = -1;
  std::array<std::uint32_t, sampler::kMaxRegisters> words_{};
  std::array<sampler::SampleState, sampler::kMaxRegisters> states_{};
  std::array<std::uint32_t, sampler::kMaxRegisters> cost_ns_{};
};

constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

}  // namespace

std::shared_ptr<WordSource> words_from(
    std::function<std::uint32_t(std::uint32_t, std::int64_t)> function) {
  return std::make_shared<FunctionWords>(std::move(function));
}

std::shared_ptr<WordSource> words_from(std::unique_ptr<sampler::RegisterReader> reader) {
  return std::make_shared<ReaderWords>(std::move(reader));
}

bool SlottedWords::busy_in_slot(std::size_t index, std::int64_t slot) const noexcept {
  const std::uint64_t stream = mix(seed_ + 0x9e3779b97f4a7c15ULL * (index + 1));
  const std::uint64_t bits = mix(stream ^ mix(static_cast<std::uint64_t>(slot)));
  return static_cast<double>(bits >> 11U) * kTwoToMinus53 < bits_[index].duty;
}

std::uint32_t SlottedWords::word(std::uint32_t dword_offset, std::int64_t monotonic_ns) noexcept {
  std::uint32_t result = 0;
  for (std::size_t i = 0; i < bits_.size(); ++i) {
    const SlottedBit& bit = bits_[i];
    if (bit.dword_offset == dword_offset && busy_in_slot(i, monotonic_ns / bit.slot_ns)) {
      result |= 1U << bit.bit;
    }
  }
  return result;
}

double SlottedWords::true_busy(std::size_t index, std::int64_t start_ns,
                               std::int64_t end_ns) const noexcept {
  const std::int64_t slot_ns = bits_[index].slot_ns;
  std::int64_t busy_ns = 0;
  for (std::int64_t slot = start_ns / slot_ns; slot * slot_ns < end_ns; ++slot) {
    if (busy_in_slot(index, slot)) {
      busy_ns += std::min(end_ns, (slot + 1) * slot_ns) - std::max(start_ns, slot * slot_ns);
    }
  }
  return static_cast<double>(busy_ns) / static_cast<double>(end_ns - start_ns);
}

}  // namespace gputrace::rig
