#include "tests/bench/ruptures_peer.h"

#include <dlfcn.h>

#include <algorithm>

namespace gputrace::bench {

Result<RupturesPeer> RupturesPeer::open(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // for the life of the program
  void* symbol = handle == nullptr ? nullptr : dlsym(handle, "ekcpd_pelt_compute");
  if (symbol == nullptr) {
    const char* why = dlerror();
    return fail(ErrorCode::kNotFound, "cannot take KernelCPD from " + library + ": " +
                                          (why == nullptr ? "no reason given" : why));
  }
  return RupturesPeer(reinterpret_cast<Compute>(symbol));
}

std::vector<std::size_t> RupturesPeer::linear(WindowMatrix& windows, double penalty) const {
  // How the function is told the kernel: a pointer to a pointer to its name (kernels.h there).
  struct Kernel {
    char* name;
  };
  struct LinearKernel {
    Kernel* kernel;
  };
  std::string name = "linear";
  Kernel kernel{name.data()};
  LinearKernel linear_kernel{&kernel};
  std::vector<int> path(windows.windows + 1);
  constexpr int kMinSize = 2;
  compute_(windows.values.data(), static_cast<int>(windows.windows),
           static_cast<int>(windows.units), penalty, kMinSize, &linear_kernel, path.data());
  std::vector<std::size_t> changes;
  for (int at = path.back(); at > 0; at = path[static_cast<std::size_t>(at)]) {
    changes.push_back(static_cast<std::size_t>(at));
  }
  std::reverse(changes.begin(), changes.end());
  return changes;
}

}  // namespace gputrace::bench
