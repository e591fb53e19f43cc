// One line on stderr that says how far a bench is, if that is a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gputrace::commands {

/// A test among those that were asked for.
struct RunningTest {
  std::string name;        ///< "latency"; empty = of a run that has one test
  std::size_t number = 0;  ///< from 1
  std::size_t of = 0;
};

/// "gputrace: latency (4 of 17), 12 of 40 points, about 31 s left". Points are left out where `of`
/// is 0 and when all are done, the time where it is not finite or negative.
[[nodiscard]] std::string progress_text(const RunningTest& test, std::size_t done, std::size_t of,
                                        double seconds_left);

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// Before its first point: that may take a while.
  void begin_test(RunningTest test, double seconds_left);
  void show(std::size_t done, std::size_t of, double seconds_left);
  /// Leaves an empty line for what is printed next.
  void clear();

 private:
  void print(std::string_view text);

  bool on_terminal_;
  bool shown_ = false;
  RunningTest test_;
};

}  // namespace gputrace::commands
