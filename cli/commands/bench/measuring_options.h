// The options that all commands have which run kernels: bench, roofline, calibrate.
#pragma once

#include <cxxopts.hpp>
#include <string>

#include "cli/report/render_text.h"
#include "daemon/base/result.h"

namespace gputrace::commands {

struct MeasuringOptions {
  std::string device;  ///< --device; empty = the default
  std::string gpu;     ///< --gpu
  bool quick = false;
  bool json = false;
  bool save = true;  ///< no --no-save
  report::TextOptions text;
};

/// Declares them.
void add_measuring_options(cxxopts::Options& parser);
/// kUsage for a --color that does not exist.
[[nodiscard]] Status take_measuring_options(const cxxopts::ParseResult& parsed,
                                            MeasuringOptions& options);

}  // namespace gputrace::commands
