// The nodes of a pointer chase: one cycle through all of them in random order, one node a cache
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputrace::bench {

/// Of the lines of all caches met so far; where they are of 128 bytes two nodes share one, which
/// changes nothing at a cache's capacity.
inline constexpr std::uint32_t kNodeBytes = 64;

/// Not for several threads: the order is made when it is first asked for.
class RandomCycle {
 public:
  RandomCycle(std::uint32_t nodes, std::uint64_t seed);

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{nodes_} * kNodeBytes; }
  /// The node that stands at a position of the cycle, which goes on at its end.
  [[nodiscard]] std::uint32_t at(std::uint64_t position) const;
  /// The position of a node.
  [[nodiscard]] std::uint32_t position_of(std::uint32_t node) const;

  /// Each node begins with the address of the next, 8 bytes; `memory` holds bytes().
  void write_addresses(std::span<std::byte> memory, std::uint64_t address) const;
  /// Each node begins with the index of the next one's first 4-byte word.
  void write_indices(std::span<std::byte> memory) const;

 private:
  [[nodiscard]] const std::vector<std::uint32_t>& order() const;

  std::uint32_t nodes_;
  std::uint64_t seed_;
  mutable std::vector<std::uint32_t> order_;
};

}  // namespace gputrace::bench
