#include "kernels/bench/tests/copy/copy_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/bench/cases/case_data.h"

namespace gputrace::bench {

namespace {

constexpr std::uint64_t kWhole = std::uint64_t{64} * 1024;
constexpr std::uint64_t kBlock = 4096;
constexpr std::uint64_t kBlocks = 16;

}  // namespace

std::vector<CopiedBlock> blocks_of(std::uint64_t bytes) {
  std::vector<CopiedBlock> blocks;
  if (bytes > kWhole) {
    for (std::uint64_t i = 0; i < kBlocks; ++i) {
      blocks.push_back({.begin = (bytes - kBlock) * i / (kBlocks - 1), .bytes = kBlock});
    }
    return blocks;
  }
  for (std::uint64_t begin = 0; begin < bytes; begin += kBlock) {
    blocks.push_back({.begin = begin, .bytes = std::min(kBlock, bytes - begin)});
  }
  return blocks;
}

void fill_pattern(std::span<std::byte> memory) {
  fill_with_words(memory.first(memory.size() / 4 * 4));
}

void stamp_blocks(std::span<std::byte> source, std::uint64_t number) {
  for (const CopiedBlock& block : blocks_of(source.size())) {
    std::memcpy(&source[block.begin], &number, std::min<std::uint64_t>(sizeof number, block.bytes));
  }
}

Status check_arrival(const std::string& what, std::span<const std::byte> source,
                     std::span<const std::byte> destination) {
  GPUTRACE_CHECK(source.size() <= destination.size());
  for (const CopiedBlock& block : blocks_of(source.size())) {
    const auto sent = source.subspan(block.begin, block.bytes);
    const auto arrived = destination.subspan(block.begin, block.bytes);
    const auto [first, other] = std::ranges::mismatch(sent, arrived);
    if (first != sent.end()) {
      const auto at = block.begin + static_cast<std::uint64_t>(first - sent.begin());
      return fail(ErrorCode::kCorrupt, fmt::format("{}: byte {} is {:#04x}, and {:#04x} was sent",
                                                   what, at, std::to_integer<unsigned>(*other),
                                                   std::to_integer<unsigned>(*first)));
    }
  }
  return {};
}

}  // namespace gputrace::bench
