#include "cli/import/bad_lines.h"

#include <fmt/format.h>

#include "cli/import/text.h"

namespace gputrace::import {

namespace {
constexpr std::size_t kExamples = 5;
}  // namespace

std::string BadLines::located(std::uint64_t line, const BadCell& cell) const {
  return fmt::format("{}:{}:{}: {}", printable(file_), line, cell.column, cell.what);
}

tl::unexpected<Error> BadLines::fatal(std::uint64_t line, const BadCell& cell) const {
  return fail(ErrorCode::kCorrupt, located(line, cell));
}

Status BadLines::add(std::uint64_t line, const BadCell& cell) {
  if (!lenient_) {
    return fail(ErrorCode::kCorrupt,
                located(line, cell) + " (--lenient leaves such lines out and counts them)");
  }
  ++count_;
  if (examples_.size() < kExamples) {
    examples_.push_back(located(line, cell));
  }
  return {};
}

}  // namespace gputrace::import
