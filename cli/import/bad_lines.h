// What becomes of lines that make no sense: the import's error, or, with --lenient, a count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::import {

/// Why a line was refused and where in it. `column` counts bytes from 1.
struct BadCell {
  std::size_t column = 1;
  std::string what;
};

class BadLines {
 public:
  BadLines(std::string file, bool lenient) : file_(std::move(file)), lenient_(lenient) {}

  /// Strict: fails with "FILE:LINE:COLUMN: what". Lenient: counts the line.
  Status add(std::uint64_t line, const BadCell& cell);
  /// The same text for what --lenient cannot skip, such as a file's header.
  [[nodiscard]] tl::unexpected<Error> fatal(std::uint64_t line, const BadCell& cell) const;

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The first few, as "FILE:LINE:COLUMN: what".
  [[nodiscard]] const std::vector<std::string>& examples() const { return examples_; }

 private:
  [[nodiscard]] std::string located(std::uint64_t line, const BadCell& cell) const;

  std::string file_;
  bool lenient_;
  std::uint64_t count_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace gputrace::import
