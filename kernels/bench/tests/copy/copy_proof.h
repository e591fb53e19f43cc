// That bytes have arrived: what was copied last, not what lay there before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::bench {

struct CopiedBlock {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// Parts of a copy that are compared: all of a small one; else its first and last block, and some
/// in between.
[[nodiscard]] std::vector<CopiedBlock> blocks_of(std::uint64_t bytes);

/// Words that differ from their neighbours in every bit.
void fill_pattern(std::span<std::byte> memory);
/// Writes a number that no copy before had to the begin of each block.
void stamp_blocks(std::span<std::byte> source, std::uint64_t number);

/// Each block of the destination is the source's. The error names the first byte that is not.
[[nodiscard]] Status check_arrival(const std::string& what, std::span<const std::byte> source,
                                   std::span<const std::byte> destination);

}  // namespace gputrace::bench
