// One line on stderr that says how far a bench is, if that is a terminal.
#pragma once

#include <cstddef>

namespace gputrace::commands {

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(std::size_t done, std::size_t of, double seconds_left);
  /// Leaves an empty line for what is printed next.
  void clear();

 private:
  bool on_terminal_;
  bool shown_ = false;
};

}  // namespace gputrace::commands
