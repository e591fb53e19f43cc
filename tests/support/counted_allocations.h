// How often the whole program has allocated and freed. An executable that links
// counted_allocations.cpp has the counting operator new and delete; in a file of their own, so that
// the compiler cannot see through them.
#pragma once

#include <cstdint>

namespace gputrace::test {

[[nodiscard]] std::uint64_t allocation_count() noexcept;
[[nodiscard]] std::uint64_t free_count() noexcept;

}  // namespace gputrace::test
