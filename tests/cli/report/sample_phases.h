// Reports with phases, built by hand, for the renderers' tests.
#pragma once

#include <vector>

#include "cli/report/report.h"

namespace gputrace::test {

/// A phase with units as such a load has them on a Radeon 780M, each with its interval, and with
/// evidence and what would change it in one sentence each.
[[nodiscard]] report::Phase sample_phase(analysis::Bottleneck bottleneck, double start_s,
                                         double end_s, double confidence);
/// The same with DRAM traffic and package power.
[[nodiscard]] report::Phase witnessed_phase(analysis::Bottleneck bottleneck, double start_s,
                                            double end_s, double confidence, double gbps,
                                            double power_w);

/// sample_report() with these phases, its length theirs, a band and no simulated GPU.
[[nodiscard]] report::Report report_of_phases(std::vector<report::Phase> phases);
/// 73 GB/s and 1180 GFLOPS, ridge 16, of a calibration that fits.
[[nodiscard]] report::MachineRoofline sample_machine();
/// What the package may draw.
void add_power_cap(report::Report& report, double watts);

/// Bounded by 1.8 to 2.1 FLOP/B and traffic of 71 GB/s, relative to a ridge of 16.
[[nodiscard]] analysis::Position two_sided_position();
/// "below 6 FLOP/B", of busy bits alone.
[[nodiscard]] analysis::Position one_sided_position();

/// An hour of a game: 31 phases of every class, positions, traffic, one phase with scenes.
[[nodiscard]] report::Report sample_hour();

}  // namespace gputrace::test
