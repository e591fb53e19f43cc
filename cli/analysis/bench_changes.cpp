#include "cli/analysis/bench_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace gputrace::analysis {
namespace {

void add_change(std::vector<BenchChange>& changes, std::string what, std::string a, std::string b) {
  if (a != b) {
    const auto shown = [](std::string& text) {
      return text.empty() ? std::string("not known") : std::move(text);
    };
    changes.push_back({std::move(what), shown(a), shown(b)});
  }
}

/// What the driver's code of a kernel holds, an invocation and trip.
using Counts = std::map<std::pair<std::string, std::string>, double>;

Counts counts_of(const TestResult& test) {
  Counts counts;
  for (const CountCheck& count : test.counts) {
    if (count.isa) {
      counts[{count.kernel, count.operation}] = *count.isa;
    }
  }
  return counts;
}

void add_counts(std::vector<BenchChange>& changes, const TestResult& a, const TestResult& b) {
  const Counts after = counts_of(b);
  for (const auto& [key, before] : counts_of(a)) {
    const auto found = after.find(key);
    if (found != after.end() && found->second != before) {
      add_change(changes, fmt::format("instructions of {}, {}", key.first, key.second),
                 fmt::format("{:g} a trip", before), fmt::format("{:g} a trip", found->second));
    }
  }
}

const BenchPoint* same_point(const BenchSeries& series, double x) {
  const auto found = std::ranges::find(series.points, x, &BenchPoint::x);
  return found == series.points.end() ? nullptr : &*found;
}

/// Of the first point of a series whose code changed; how many did is in the words.
void add_code(std::vector<BenchChange>& changes, const TestResult& test, const BenchSeries& a,
              const BenchSeries& b) {
  std::size_t changed = 0;
  std::size_t known = 0;
  const BenchPoint* first_a = nullptr;
  const BenchPoint* first_b = nullptr;
  for (const BenchPoint& point : a.points) {
    const BenchPoint* other = same_point(b, point.x);
    if (other == nullptr || !point.code_bytes || !other->code_bytes) {
      continue;
    }
    ++known;
    if (*point.code_bytes == *other->code_bytes && point.vgprs == other->vgprs) {
      continue;
    }
    if (changed++ == 0) {
      first_a = &point;
      first_b = other;
    }
  }
  if (first_a == nullptr || first_b == nullptr) {
    return;
  }
  const auto words = [](const BenchPoint& point) {
    return fmt::format("{:.0f} B{}", point.code_bytes.value_or(0),
                       point.vgprs ? fmt::format(", {:.0f} VGPRs", *point.vgprs) : "");
  };
  const std::string name =
      fmt::format("code of {}{}{}", test.id, a.name.empty() ? "" : "/", a.name);
  add_change(changes, known > 1 ? fmt::format("{} ({} of {} points)", name, changed, known) : name,
             words(*first_a), words(*first_b));
}

/// Repeats that are none.
void add_unlike(std::vector<std::string>& cautions, std::string_view side,
                std::span<const BenchRun> runs) {
  for (const BenchRun& run : runs.subspan(1)) {
    const std::vector<BenchChange> changes = changes_between(runs.front(), run);
    if (!changes.empty()) {
      cautions.push_back(fmt::format("runs of {} are no repeats of each other: {}: {}, and {}",
                                     side, changes.front().what, changes.front().a,
                                     changes.front().b));
      return;
    }
    if (run.quick != runs.front().quick) {
      cautions.push_back(
          fmt::format("runs of {} are no repeats of each other: some are quick", side));
      return;
    }
  }
}

void add_busy(std::vector<std::string>& cautions, std::string_view side,
              std::span<const BenchRun> runs) {
  const double share = share_that_drifts(runs);
  if (share > kMuchDrift) {
    cautions.push_back(fmt::format(
        "{:.0f} % of the points of {} drift: the clock moved, or other programs ran beside it{}",
        100 * share, side, runs.size() > 1 ? "" : "; compare repeats, A1,A2 B1,B2"));
  }
}

}  // namespace

double share_that_drifts(std::span<const BenchRun> runs) {
  double points = 0;
  double drifting = 0;
  for (const BenchRun& run : runs) {
    for (const TestResult& test : run.tests) {
      for (const BenchSeries& series : test.series) {
        for (const BenchPoint& point : series.points) {
          points += point.median ? 1 : 0;
          drifting += point.median && point.drifts ? 1 : 0;
        }
      }
    }
  }
  return points > 0 ? drifting / points : 0;
}

std::vector<BenchChange> changes_between(const BenchRun& a, const BenchRun& b) {
  std::vector<BenchChange> changes;
  add_change(changes, "device", a.device.name, b.device.name);
  add_change(changes, "driver", a.device.driver, b.device.driver);
  add_change(changes, "driver version", a.device.driver_info, b.device.driver_info);
  add_change(changes, "subgroup sizes", fmt::format("{}", fmt::join(a.device.subgroup_sizes, ", ")),
             fmt::format("{}", fmt::join(b.device.subgroup_sizes, ", ")));
  for (const TestResult& test : a.tests) {
    const auto other = std::ranges::find(b.tests, test.id, &TestResult::id);
    if (other == b.tests.end()) {
      continue;
    }
    add_counts(changes, test, *other);
    for (const BenchSeries& series : test.series) {
      const auto same = std::ranges::find(other->series, series.name, &BenchSeries::name);
      if (same != other->series.end()) {
        add_code(changes, test, series, *same);
      }
    }
  }
  return changes;
}

std::vector<std::string> cautions_between(std::span<const BenchRun> all_a,
                                          std::span<const BenchRun> all_b) {
  std::vector<std::string> cautions;
  if (all_a.empty() || all_b.empty()) {
    return cautions;
  }
  add_unlike(cautions, "A", all_a);
  add_unlike(cautions, "B", all_b);
  const BenchRun& a = all_a.front();
  const BenchRun& b = all_b.front();
  if (a.device.simulated != b.device.simulated) {
    cautions.push_back(
        fmt::format("{} is SIMULATED, the other was measured: ratios say how good "
                    "the model is, not which GPU is faster",
                    a.device.simulated ? "A" : "B"));
  }
  if (a.quick != b.quick) {
    cautions.push_back(fmt::format(
        "{} is a quick run, {} a full one: only points that both have are compared, and the quick "
        "ones had shorter runs",
        a.quick ? "A" : "B", a.quick ? "B" : "A"));
  }
  for (const auto& [runs, name] : {std::pair(all_a, "A"), std::pair(all_b, "B")}) {
    if (std::ranges::any_of(runs, &BenchRun::cancelled)) {
      cautions.push_back(fmt::format("{} was stopped before its end", name));
    }
  }
  add_busy(cautions, "A", all_a);
  add_busy(cautions, "B", all_b);
  const auto suspects = [](std::span<const BenchRun> runs) {
    std::ptrdiff_t count = 0;
    for (const BenchRun& run : runs) {
      count += std::ranges::count(run.tests, TestStatus::kSuspect, &TestResult::status);
    }
    return count;
  };
  if (suspects(all_a) + suspects(all_b) > 0) {
    cautions.push_back(fmt::format("suspect tables, not to be published: {} of A, {} of B",
                                   suspects(all_a), suspects(all_b)));
  }
  // Clocks before the run say how warm and how free each began.
  if (a.power_w && b.power_w && *a.power_w > 0 && *b.power_w > 0 &&
      std::abs(std::log(*a.power_w / *b.power_w)) > std::log(2.0)) {
    cautions.push_back(fmt::format(
        "before the runs the GPU took {:.1f} W for A and {:.1f} W for B: one was not idle",
        *a.power_w, *b.power_w));
  }
  return cautions;
}

}  // namespace gputrace::analysis
