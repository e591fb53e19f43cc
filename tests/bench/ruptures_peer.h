// KernelCPD of `ruptures` (Truong, Oudre, Vayatis, Signal Processing 167, 2020): its C function,
// from a library that the user built of its source. tests/bench/README.md says how.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::bench {

/// Rows are windows, columns units.
struct WindowMatrix {
  std::size_t windows = 0;
  std::size_t units = 0;
  std::vector<double> values;
};

class RupturesPeer {
 public:
  [[nodiscard]] static Result<RupturesPeer> open(const std::string& library);

  /// KernelCPD(kernel="linear", min_size=2).fit(windows).predict(pen=penalty): first windows behind
  /// the changes. The function takes them as writable and only reads them.
  [[nodiscard]] std::vector<std::size_t> linear(WindowMatrix& windows, double penalty) const;

 private:
  using Compute = void (*)(double*, int, int, double, int, void*, int*);
  explicit RupturesPeer(Compute compute) : compute_(compute) {}
  Compute compute_;
};

}  // namespace gputrace::bench
