#include "kernels/bench/tests/random_cycle.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

#include "daemon/base/result.h"

namespace gputrace::bench {

RandomCycle::RandomCycle(std::uint32_t nodes, std::uint64_t seed) : nodes_(nodes), seed_(seed) {
  GPUTRACE_CHECK(nodes > 0);
}

/// A random order read as a cycle is a random cycle, each as likely as in Sattolo's algorithm
/// (1986) and with every position at hand.
const std::vector<std::uint32_t>& RandomCycle::order() const {
  if (order_.empty()) {
    order_.resize(nodes_);
    std::iota(order_.begin(), order_.end(), 0U);
    std::mt19937_64 random(seed_);
    for (std::uint64_t left = nodes_; left > 1; --left) {
      std::swap(order_[left - 1], order_[random() % left]);
    }
  }
  return order_;
}

std::uint32_t RandomCycle::at(std::uint64_t position) const {
  return order()[position % nodes_];
}

std::uint32_t RandomCycle::position_of(std::uint32_t node) const {
  const auto place = std::find(order().begin(), order().end(), node);
  return static_cast<std::uint32_t>(place - order().begin());
}

void RandomCycle::write_addresses(std::span<std::byte> memory, std::uint64_t address) const {
  GPUTRACE_CHECK(memory.size() >= bytes());
  for (std::uint32_t i = 0; i < nodes_; ++i) {
    const std::uint64_t next = address + std::uint64_t{at(std::uint64_t{i} + 1)} * kNodeBytes;
    std::memcpy(&memory[std::size_t{at(i)} * kNodeBytes], &next, sizeof(next));
  }
}

void RandomCycle::write_indices(std::span<std::byte> memory) const {
  GPUTRACE_CHECK(memory.size() >= bytes());
  for (std::uint32_t i = 0; i < nodes_; ++i) {
    const std::uint32_t next = at(std::uint64_t{i} + 1) * (kNodeBytes / 4);
    std::memcpy(&memory[std::size_t{at(i)} * kNodeBytes], &next, sizeof(next));
  }
}

}  // namespace gputrace::bench
