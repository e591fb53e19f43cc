// What the registers of the rig's GPU hold: a function of the register and CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/sampler/register_reader.h"

namespace gputrace::rig {

/// Asked by the server only. Registers that a source does not know read as 0.
class WordSource {
 public:
  WordSource() = default;
  WordSource(const WordSource&) = delete;
  WordSource& operator=(const WordSource&) = delete;
  virtual ~WordSource() = default;

  [[nodiscard]] virtual std::uint32_t word(std::uint32_t dword_offset,
                                           std::int64_t monotonic_ns) noexcept = 0;
};

/// Words from a function of (register, time), for a test that scripts them.
[[nodiscard]] std::shared_ptr<WordSource> words_from(
    std::function<std::uint32_t(std::uint32_t, std::int64_t)> function);

/// Words of a RegisterReader: the simulated GPU. Registers asked for at one instant come from one
/// read.
[[nodiscard]] std::shared_ptr<WordSource> words_from(
    std::unique_ptr<sampler::RegisterReader> reader);

/// One bit that is busy in some slots of time and idle in the others, independently: a slot of
/// `slot_ns` is busy with probability `duty`.
struct SlottedBit {
  std::uint32_t dword_offset = 0;
  unsigned bit = 0;
  double duty = 0;
  std::int64_t slot_ns = 0;
};

/// Busy bits whose true busy fraction over any interval is known exactly. A pure function of time
/// and seed, so that the server and the test agree without talking to each other.
class SlottedWords final : public WordSource {
 public:
  SlottedWords(std::vector<SlottedBit> bits, std::uint64_t seed)
      : bits_(std::move(bits)), seed_(seed) {}

  [[nodiscard]] std::uint32_t word(std::uint32_t dword_offset,
                                   std::int64_t monotonic_ns) noexcept override;
  /// The share of [start_ns, end_ns) in which bits()[index] was busy.
  [[nodiscard]] double true_busy(std::size_t index, std::int64_t start_ns,
                                 std::int64_t end_ns) const noexcept;
  [[nodiscard]] const std::vector<SlottedBit>& bits() const noexcept { return bits_; }

 private:
  [[nodiscard]] bool busy_in_slot(std::size_t index, std::int64_t slot) const noexcept;

  std::vector<SlottedBit> bits_;
  std::uint64_t seed_;
};

}  // namespace gputrace::rig
