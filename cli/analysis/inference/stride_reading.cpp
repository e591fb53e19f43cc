#include "cli/analysis/inference/stride_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/analysis/inference/curve.h"
#include "cli/analysis/inference/granules.h"
#include "cli/analysis/inference/level_fit.h"

namespace gputrace::analysis::inference {

namespace {

/// Lines are smaller; pages are not.
constexpr double kSmallestPage = 1024;
/// From here on a plain stride leaves few sets of a cache, whose knee then moves late.
constexpr double kFewSets = 512;
/// Knees as near as this, in octaves on average, at four strides or more.
constexpr double kClose = 0.25;
constexpr std::size_t kManyStrides = 4;

TestResult* find_test(BenchRun& run, std::string_view id) {
  const auto found = std::ranges::find(run.tests, id, &TestResult::id);
  return found == run.tests.end() ? nullptr : &*found;
}

std::vector<StrideKnees> knees_of(const TestResult& test) {
  std::vector<StrideKnees> strides;
  for (const BenchSeries& series : test.series) {
    const double stride = bytes_of_name(series.name);
    const Curve curve = usable_curve(series);
    if (stride <= 0 || curve.size() < 2) {
      continue;
    }
    StrideKnees knees{
        .stride = stride, .smallest = curve.front().x, .largest = curve.back().x, .knees = {}};
    for (const FittedLevel& level : fit_levels(curve).levels) {
      knees.knees.push_back({level.size, level.lower, level.upper});
    }
    strides.push_back(std::move(knees));
  }
  std::ranges::sort(strides, {}, &StrideKnees::stride);
  return strides;
}

/// Jittered from where it matters, and plain below.
std::vector<StrideKnees> spread(const std::vector<StrideKnees>& plain,
                                const std::vector<StrideKnees>& jittered) {
  std::vector<StrideKnees> all;
  for (const StrideKnees& stride : plain) {
    if (stride.stride < kFewSets || jittered.empty()) {
      all.push_back(stride);
    }
  }
  for (const StrideKnees& stride : jittered) {
    const bool there = std::ranges::any_of(
        all, [&stride](const StrideKnees& other) { return other.stride == stride.stride; });
    if (!there) {
      all.push_back(stride);
    }
  }
  std::ranges::sort(all, {}, &StrideKnees::stride);
  return all;
}

bool is_clear(const Granule& granule) {
  return granule.miss <= kClose && granule.seen >= kManyStrides &&
         granule.granule_upper <= 2 * granule.granule_lower;
}

bool agree(const Granule& a, const Granule& b) {
  return a.granule <= 2 * b.granule && b.granule <= 2 * a.granule &&
         std::abs(std::log2(a.capacity() / b.capacity())) < 0.5;
}

Reading reading_of(double value, double lower, double upper) {
  return {value, lower, upper};
}

std::string seen_text(const Granule& granule) {
  return fmt::format("knees of {} of {} strides, {:.2f} octaves off", granule.seen,
                     granule.expected, granule.miss);
}

/// The cache that most strides speak of, of those that agree on the line.
void append_line(const std::vector<Granule>& all, const std::vector<Granule>& plain,
                 bool has_jittered, double smallest_stride, TestResult& test) {
  const Granule* best = nullptr;
  std::size_t alike = 0;
  for (const Granule& granule : all) {
    if (granule.granule >= kSmallestPage) {
      continue;
    }
    if (best == nullptr || granule.seen > best->seen) {
      best = &granule;
    }
  }
  if (best == nullptr) {
    return;
  }
  for (const Granule& granule : all) {
    alike += granule.granule == best->granule ? 1 : 0;
  }
  Reading line = reading_of(best->granule, best->granule_lower, best->granule_upper);
  std::string by = seen_text(*best);
  bool open = false;
  if (best->granule_lower <= smallest_stride) {
    // No shorter stride tells a smaller line from this one.
    open = best->granule_upper > smallest_stride || best->granule <= smallest_stride;
    by += fmt::format("; strides begin at {}: it may be smaller", bytes_text(smallest_stride));
  }
  for (const Granule& other : plain) {
    const bool same_cache = std::ranges::any_of(all, [&other](const Granule& granule) {
      return granule.granule < kSmallestPage && other.granule >= kSmallestPage &&
             std::abs(std::log2(granule.capacity() / other.capacity())) < 0.5;
    });
    if (has_jittered && same_cache) {
      by += fmt::format(
          "; plain strides keep the knee at {} up to {}: virtually addressed, or physically "
          "indexed by lower bits, which cannot be told apart",
          bytes_text(other.capacity()), bytes_text(other.granule));
    }
  }
  std::string_view confidence = kGuess;
  if (is_clear(*best) && !open) {
    confidence = alike > 1 ? kSure : kLikely;
  }
  test.derived.push_back(derived_value("line.size", line, "B", confidence, std::move(by)));
}

}  // namespace

std::vector<Reading> read_strides(BenchRun& run) {
  std::vector<Reading> reaches;
  TestResult* const plain_test = find_test(run, "stride.plain");
  TestResult* const jittered_test = find_test(run, "stride.jittered");
  std::vector<StrideKnees> plain;
  std::vector<StrideKnees> jittered;
  if (plain_test != nullptr) {
    plain = knees_of(*plain_test);
  }
  if (jittered_test != nullptr) {
    jittered = knees_of(*jittered_test);
  }
  const std::vector<StrideKnees> strides = spread(plain, jittered);
  TestResult* const test = jittered.empty() ? plain_test : jittered_test;
  if (strides.empty() || test == nullptr) {
    return reaches;
  }
  const std::vector<Granule> all = join_strides(strides);
  const std::vector<Granule> of_plain = join_strides(plain);
  append_line(all, of_plain, !jittered.empty(), strides.front().stride, *test);
  std::size_t number = 0;
  for (const Granule& granule : all) {
    if (granule.granule < kSmallestPage) {
      continue;
    }
    const bool twice =
        !jittered.empty() &&
        std::ranges::any_of(of_plain, [&](const Granule& other) { return agree(granule, other); });
    std::string_view confidence = kGuess;
    std::string by = seen_text(granule);
    if (jittered.empty()) {
      by +=
          "; pages of a TLB, or a cache whose sets are chosen by lower bits: jittered strides "
          "would tell";
    } else if (is_clear(granule)) {
      confidence = twice ? kSure : kLikely;
      by += twice ? "; plain strides agree" : "";
    }
    ++number;
    const Reading reach = reading_of(granule.capacity(), granule.reach_of(granule.entries_lower),
                                     granule.reach_of(granule.entries_upper));
    test->derived.push_back(
        derived_value(fmt::format("tlb.{}.reach", number), reach, "B", confidence, by));
    test->derived.push_back(
        derived_value(fmt::format("tlb.{}.page", number),
                      reading_of(granule.granule, granule.granule_lower, granule.granule_upper),
                      "B", confidence, by));
    test->derived.push_back(
        derived_value(fmt::format("tlb.{}.entries", number),
                      reading_of(granule.entries, granule.entries_lower, granule.entries_upper), "",
                      confidence, by));
    if (confidence != kGuess) {
      reaches.push_back(reach);
    }
  }
  return reaches;
}

}  // namespace gputrace::analysis::inference
