#include "daemon/os/guarded_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "daemon/base/time.h"

namespace gputrace::os {

namespace {

using sampler::OfferedRegister;
using sampler::ReadBuffer;
using sampler::SampleState;

// Of the 100 ms of the driver, a read may begin in the first 20 and must have ended after 50. What
// an ioctl took counts in full: where in it the 100 ms began is not seen from here.
constexpr std::int64_t kBeginWithinNs = 20 * kNsPerMs;
constexpr std::int64_t kEndWithinNs = 50 * kNsPerMs;
constexpr std::int64_t kLongestIoctlNs = 50 * kNsPerMs;

constexpr std::uint32_t kAllOnesWord = 0xffffffff;

/// A buffer for words that nobody asked for.
struct ScratchSample {
  std::array<std::uint32_t, sampler::kMaxRegisters> words{};
  std::array<SampleState, sampler::kMaxRegisters> states{};
  std::array<std::uint32_t, sampler::kMaxRegisters> cost_ns{};

  ReadBuffer first(std::size_t count) {
    return {std::span(words).first(count), std::span(states).first(count),
            std::span(cost_ns).first(count)};
  }
};

ReadBuffer part(ReadBuffer buffer, std::size_t from, std::size_t count) {
  return {buffer.words.subspan(from, count), buffer.states.subspan(from, count),
          buffer.cost_ns.subspan(from, count)};
}

void fill_unread(ReadBuffer out, SampleState state, std::uint32_t word = 0) {
  std::fill(out.words.begin(), out.words.end(), word);
  std::fill(out.states.begin(), out.states.end(), state);
  std::fill(out.cost_ns.begin(), out.cost_ns.end(), 0U);
}

}  // namespace

IoctlAnswer read_ioctl(RenderNodeReader& node, std::int64_t now_ns, ReadBuffer out) noexcept {
  node.read(now_ns, out);
  IoctlAnswer answer;
  std::size_t valid = 0;
  std::size_t all_ones = 0;
  for (std::size_t i = 0; i < out.states.size(); ++i) {
    if (out.states[i] == SampleState::kValid) {
      ++valid;
      all_ones += out.words[i] == kAllOnesWord ? 1 : 0;
    } else if (out.states[i] != SampleState::kLost) {
      answer.state = out.states[i];
      return answer;
    }
  }
  if (valid == 0) {
    return answer;
  }
  answer.state = SampleState::kValid;
  answer.all_ones = all_ones == valid;
  answer.called_ns = node.last_success().called_ns;
  answer.returned_ns = node.last_success().returned_ns;
  return answer;
}

GuardedWords::GuardedWords(std::vector<OfferedRegister> registers,
                           std::unique_ptr<PrivilegedRegisters> privileged, GuardAccess access)
    : registers_(std::move(registers)),
      groups_(group_neighbours(registers_)),
      privileged_(std::move(privileged)),
      access_(std::move(access)) {
  GPUTRACE_CHECK(registers_.size() <= sampler::kMaxRegisters);
}

void GuardedWords::read(const IoctlAnswer& ioctl, ReadBuffer out) noexcept {
  if (ended_) {
    fill_unread(out, SampleState::kLost);
    return;
  }
  if (ioctl.state != SampleState::kValid) {
    fill_unread(out, ioctl.state);
    return;
  }
  if (ioctl.all_ones) {
    // The device is off the bus or in a reset. These words would say the same, and end the path.
    fill_unread(out, SampleState::kValid, kAllOnesWord);
    return;
  }
  // The ioctl has woken the device, but with an autosuspend delay of 0 it may sleep again: regs2
  // would wake it, the BAR would not answer.
  const PowerState power = access_.power();
  if (power != PowerState::kActive) {
    if (power == PowerState::kUnclear) {
      power_was_unclear_ = true;
    }
    fill_unread(out, power == PowerState::kAsleep ? SampleState::kAsleep : SampleState::kReadError);
    return;
  }
  for (const RegisterGroup& group : groups_) {
    read_group(group, ioctl, out);
  }
}

void GuardedWords::read_group(const RegisterGroup& group, const IoctlAnswer& ioctl,
                              ReadBuffer out) noexcept {
  std::array<std::uint32_t, sampler::kMaxRegisters> words{};
  SampleState state = SampleState::kValid;
  std::uint32_t cost_ns = 0;
  const std::int64_t start_ns = access_.now_ns();
  if (ended_) {
    state = SampleState::kLost;
  } else if (start_ns - ioctl.returned_ns >= kBeginWithinNs ||
             ioctl.returned_ns - ioctl.called_ns > kLongestIoctlNs) {
    state = SampleState::kGuardLate;
  } else {
    const std::span<std::uint32_t> read = std::span(words).first(group.slots.size());
    const int error = privileged_->read(group.first_offset, read);
    const std::int64_t end_ns = access_.now_ns();
    cost_ns = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(end_ns - start_ns, 1, std::numeric_limits<std::uint32_t>::max()));
    const auto dead = std::find(read.begin(), read.end(), kAllOnesWord);
    if (error != 0) {
      end(error, group.first_offset);
      state = SampleState::kLost;
    } else if (dead != read.end()) {
      end(0, group.first_offset + static_cast<std::uint32_t>(dead - read.begin()));
      state = SampleState::kLost;
    } else if (end_ns - ioctl.returned_ns > kEndWithinNs) {
      state = SampleState::kGuardLate;
    }
  }
  for (std::size_t i = 0; i < group.slots.size(); ++i) {
    out.words[group.slots[i]] = words[i];
    out.states[group.slots[i]] = state;
    out.cost_ns[group.slots[i]] = cost_ns;
  }
}

void GuardedWords::end(int error_number, std::uint32_t offset) noexcept {
  ended_ = true;
  end_errno_ = error_number;
  end_offset_ = offset;
}

Error GuardedWords::end_error() const {
  const std::string read = fmt::format("read of {:#06x} on {}", end_offset_, privileged_->path());
  if (end_errno_ != 0) {
    return error_from_errno(end_errno_, read);
  }
  return {ErrorCode::kIo, read + " gave all ones, as a graphics core without power does"};
}

std::string GuardedWords::last_error() const {
  if (!power_was_unclear_) {
    return {};
  }
  return "power/runtime_status of the GPU is not readable or neither active nor suspended, so " +
         privileged_->path() + " was not read";
}

GuardedReader::GuardedReader(std::unique_ptr<RenderNodeReader> node,
                             std::unique_ptr<GuardedWords> words, Offer offer)
    : node_(std::move(node)), words_(std::move(words)), offer_(offer) {
  collect_offer();
  GPUTRACE_CHECK(registers_.size() <= sampler::kMaxRegisters);
}

void GuardedReader::collect_offer() {
  registers_.clear();
  if (offer_ == Offer::kBoth) {
    registers_.assign(node_->registers().begin(), node_->registers().end());
  }
  if (!words_lost_) {
    registers_.insert(registers_.end(), words_->registers().begin(), words_->registers().end());
  }
}

void GuardedReader::read(std::int64_t now_ns, ReadBuffer out) noexcept {
  ScratchSample scratch;
  const std::size_t of_node = node_->registers().size();
  const std::size_t shown = offer_ == Offer::kBoth ? of_node : 0;
  const IoctlAnswer ioctl =
      read_ioctl(*node_, now_ns, shown > 0 ? part(out, 0, shown) : scratch.first(of_node));
  if (!words_lost_) {
    words_->read(ioctl, part(out, shown, words_->registers().size()));
  }
}

std::vector<sampler::LostRegister> GuardedReader::drop_lost() {
  std::vector<sampler::LostRegister> lost = node_->drop_lost();
  std::string why;
  if (!words_lost_ && words_->has_ended()) {
    why = words_->end_error().message +
          "; this way is not tried again in this session, since reading a graphics core without "
          "power can hang the machine";
    why += offer_ == Offer::kBoth ? "; the other registers go on" : "; nothing more is recorded";
  } else if (!words_lost_ && node_->registers().empty()) {
    why = lost.empty() ? "the ioctl that holds GFXOFF off is lost" : lost.front().reason;
  }
  if (offer_ == Offer::kGuardedOnly) {
    lost.clear();  // it was never on offer
  }
  if (!why.empty()) {
    for (const OfferedRegister& offered : words_->registers()) {
      lost.push_back({offered.name, why});
    }
    words_lost_ = true;
  }
  collect_offer();
  return lost;
}

std::string GuardedReader::last_error() const {
  std::string text = node_->last_error();
  return text.empty() ? words_->last_error() : text;
}

}  // namespace gputrace::os
