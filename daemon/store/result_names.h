// Words and limits of the rows of results. Private to insert_results.cpp and load_results.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "daemon/store/results.h"

namespace gputrace::store {

inline constexpr std::size_t kMaxResultText = 4096;
inline constexpr std::size_t kMaxSubgroupSizes = 16;
// A file has one run or a few; a suite some dozens of tests, with some hundred points each.
inline constexpr std::size_t kMaxResultRuns = 1'000;
inline constexpr std::size_t kMaxResultTests = 10'000;
inline constexpr std::size_t kMaxRowsOfTests = 1'000'000;

inline constexpr std::array<std::pair<ResultStatus, std::string_view>, 4> kResultStatuses{{
    {ResultStatus::kOk, "ok"},
    {ResultStatus::kSkipped, "skipped"},
    {ResultStatus::kSuspect, "suspect"},
    {ResultStatus::kFailed, "failed"},
}};

inline constexpr std::array<std::pair<ResultProof, std::string_view>, 3> kResultProofs{{
    {ResultProof::kNotDone, "not done"},
    {ResultProof::kPassed, "passed"},
    {ResultProof::kFailed, "failed"},
}};

}  // namespace gputrace::store
