// A reader that answers what the test says: words, states, the loss of a register in mid-run, a
// read that hangs. Prepare it before the sampling thread starts.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <latch>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/sampler/register_reader.h"

namespace gputrace::test {

class FakeRegisterReader final : public sampler::RegisterReader {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  explicit FakeRegisterReader(std::vector<std::string> names = {"GRBM_STATUS"}) {
    std::uint32_t offset = 0x2004;
    for (std::string& name : names) {
      offered_.push_back({std::move(name), offset++, "fake"});
      answers_.emplace_back();
    }
  }

  /// Every read of this register gives `word`; 0x3028, the idle word, when not set.
  void set_word(std::size_t reg, std::uint32_t word) { answers_.at(reg).words = {word}; }
  /// Reads give these words in turn, then again from the first.
  void set_words(std::size_t reg, std::vector<std::uint32_t> words) {
    answers_.at(reg).words = std::move(words);
  }
  void set_state(std::size_t reg, sampler::SampleState state) { answers_.at(reg).state = state; }
  void set_cost_ns(std::uint32_t cost_ns) { cost_ns_ = cost_ns; }
  /// Read number `read_index` (from 0) and those after it find the register gone.
  void lose_at(std::uint64_t read_index, std::size_t reg, std::string reason) {
    answers_.at(reg).lost_at = read_index;
    answers_.at(reg).reason = std::move(reason);
  }
  /// Read number `read_index` hangs until unblock().
  void block_at(std::uint64_t read_index) { block_at_ = read_index; }
  void wait_until_blocked() const { blocked_.wait(); }
  void unblock() { unblocked_.count_down(); }
  /// It is over when so many reads are done.
  void end_at(std::uint64_t reads) { over_at_ = reads; }
  /// Runs at the start of every read, with its number: to move a clock, or to request a stop.
  void on_read(std::function<void(std::uint64_t)> hook) { hook_ = std::move(hook); }
  void set_last_error(std::string text) { last_error_ = std::move(text); }

  [[nodiscard]] std::uint64_t reads() const { return reads_; }

  [[nodiscard]] std::span<const sampler::OfferedRegister> registers() const noexcept override {
    return offered_;
  }

  [[nodiscard]] bool is_over(std::int64_t /*now_ns*/) noexcept override {
    return reads_ >= over_at_;
  }

  void read(std::int64_t /*now_ns*/, sampler::ReadBuffer out) noexcept override {
    const std::uint64_t index = reads_++;
    if (hook_) {
      hook_(index);
    }
    if (index == block_at_) {
      blocked_.count_down();
      unblocked_.wait();
    }
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      const Answer& answer = answers_[i];
      out.words[i] = answer.words[index % answer.words.size()];
      out.states[i] = index >= answer.lost_at ? sampler::SampleState::kLost : answer.state;
      out.cost_ns[i] = cost_ns_;
    }
  }

  [[nodiscard]] std::vector<sampler::LostRegister> drop_lost() override {
    std::vector<sampler::LostRegister> lost;
    for (std::size_t i = answers_.size(); i-- > 0;) {
      if (reads_ > answers_[i].lost_at) {
        lost.push_back({offered_[i].name, answers_[i].reason});
        offered_.erase(offered_.begin() + static_cast<std::ptrdiff_t>(i));
        answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    return lost;
  }

  [[nodiscard]] std::string last_error() const override { return last_error_; }

 private:
  struct Answer {
    std::vector<std::uint32_t> words{0x3028};
    sampler::SampleState state = sampler::SampleState::kValid;
    std::uint64_t lost_at = kNever;
    std::string reason;
  };

  std::vector<sampler::OfferedRegister> offered_;
  std::vector<Answer> answers_;
  std::uint32_t cost_ns_ = 1500;
  std::uint64_t block_at_ = kNever;
  std::uint64_t over_at_ = kNever;
  std::latch blocked_{1};
  std::latch unblocked_{1};
  std::function<void(std::uint64_t)> hook_;
  std::string last_error_;
  std::atomic<std::uint64_t> reads_{0};
};

}  // namespace gputrace::test
