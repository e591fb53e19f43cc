#include "cli/analysis/published_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <system_error>
#include <utility>

#include "cli/analysis/bench_comparison.h"
#include "cli/analysis/roofline.h"

namespace gputrace::analysis {

/// Made by gputrace_embed().
std::span<const std::pair<std::string_view, std::string_view>> embedded_published_figures();

namespace {

constexpr std::string_view kHeading = "gpu,what,value,unit,source";
constexpr std::size_t kColumns = 5;

/// RFC 4180, without line ends in fields.
std::vector<std::string> split_row(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"' && (quoted || fields.back().empty())) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

/// "adrenox290" for "Adreno X2-90".
std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      key += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.') {
      key += c;
    }
  }
  return key;
}

bool is_usable(const BenchPoint& point) {
  return point.status == TestStatus::kOk && point.median && std::isfinite(*point.median) &&
         *point.median > 0;
}

/// Times are better when they are less.
const BenchPoint* best_point(const TestResult& test, const BenchSeries& series) {
  const bool less = test.unit.starts_with("ns") || test.unit.starts_with("us");
  const BenchPoint* best = nullptr;
  for (const BenchPoint& point : series.points) {
    if (is_usable(point) &&
        (best == nullptr || (less ? point.median < best->median : point.median > best->median))) {
      best = &point;
    }
  }
  return best;
}

struct Found {
  double value = 0;
  std::optional<double> lower;
  std::optional<double> upper;
  std::string unit;
};

std::optional<Found> find_in_test(const TestResult& test, std::string_view name) {
  for (const DerivedValue& value : test.derived) {
    if (value.what == name) {
      return Found{value.value, value.lower, value.upper, value.unit};
    }
  }
  for (const BenchSeries& series : test.series) {
    const BenchPoint* best = series.name == name ? best_point(test, series) : nullptr;
    if (best != nullptr) {
      return Found{best->median.value_or(0), best->p5, best->p95, test.unit};
    }
  }
  return std::nullopt;
}

/// "fp32" for "peak.fp32", "level 1 read" for "level.1.read", "DRAM copy" for "dram.copy", as the
/// roofline names them.
std::string ceiling_of(std::string_view what) {
  std::string name(what.starts_with("peak.") ? what.substr(5) : what);
  std::ranges::replace(name, '.', ' ');
  return what.starts_with("dram.") ? "DRAM" + name.substr(4) : name;
}

std::optional<Found> find_figure(const BenchRun& run, const Roofline& roofline,
                                 std::string_view what) {
  const std::size_t slash = what.find('/');
  if (slash != std::string_view::npos) {
    const auto test = std::ranges::find(run.tests, what.substr(0, slash), &TestResult::id);
    return test == run.tests.end() || test->status != TestStatus::kOk
               ? std::nullopt
               : find_in_test(*test, what.substr(slash + 1));
  }
  for (const std::vector<Ceiling>* ceilings : {&roofline.compute, &roofline.bandwidth}) {
    const auto found = std::ranges::find(*ceilings, ceiling_of(what), &Ceiling::name);
    if (found != ceilings->end()) {
      return Found{found->value, found->lower, found->upper, found->unit};
    }
  }
  const std::optional<double> cores = what == "cores" ? cores_of(run) : std::nullopt;
  return cores ? std::optional(Found{*cores, std::nullopt, std::nullopt, ""}) : std::nullopt;
}

/// "ns a hop" is a time in ns.
bool same_unit(std::string_view measured, std::string_view published) {
  return measured == published ||
         (measured.starts_with(published) && measured[published.size()] == ' ');
}

}  // namespace

Result<std::vector<PublishedFigure>> parse_published(std::string_view csv) {
  std::vector<PublishedFigure> figures;
  std::size_t number = 0;
  while (!csv.empty()) {
    const std::size_t end = csv.find('\n');
    const std::string_view line = csv.substr(0, end);
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    if (++number == 1) {
      if (line != kHeading) {
        return fail(ErrorCode::kCorrupt, fmt::format("the first line is not '{}'", kHeading));
      }
      continue;
    }
    if (line.empty()) {
      continue;
    }
    std::vector<std::string> fields = split_row(line);
    double value = 0;
    const bool whole =
        fields.size() == kColumns &&
        std::from_chars(fields[2].data(), fields[2].data() + fields[2].size(), value).ptr ==
            fields[2].data() + fields[2].size();
    if (!whole || !(value > 0) || !std::isfinite(value) || fields[0].empty() || fields[1].empty() ||
        fields[4].empty()) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("line {} has not a GPU, a name, a number, a unit and a source", number));
    }
    figures.push_back({std::move(fields[0]), std::move(fields[1]), value, std::move(fields[3]),
                       std::move(fields[4])});
  }
  return figures;
}

const std::vector<PublishedFigure>& published_figures() {
  static const std::vector<PublishedFigure> kFigures = [] {
    Result<std::vector<PublishedFigure>> figures =
        parse_published(embedded_published_figures().front().second);
    GPUTRACE_CHECK(figures.has_value());
    return figures ? std::move(*figures) : std::vector<PublishedFigure>();
  }();
  return kFigures;
}

std::vector<std::string> published_gpus() {
  std::vector<std::string> names;
  for (const PublishedFigure& figure : published_figures()) {
    if (std::ranges::find(names, figure.gpu) == names.end()) {
      names.push_back(figure.gpu);
    }
  }
  return names;
}

Result<std::vector<PublishedFigure>> published_of(std::string_view gpu) {
  const std::string wanted = key_of(gpu);
  std::vector<std::string> matching;
  for (const std::string& name : published_gpus()) {
    const std::string key = key_of(name);
    if (key == wanted) {
      matching = {name};
      break;
    }
    if (!wanted.empty() && key.find(wanted) != std::string::npos) {
      matching.push_back(name);
    }
  }
  if (matching.size() != 1) {
    const std::vector<std::string> offered = matching.empty() ? published_gpus() : matching;
    return fail(ErrorCode::kNotFound,
                fmt::format("published:{}: {}; there is {}", gpu,
                            matching.empty() ? "no figures of such a GPU" : "not one GPU alone",
                            fmt::join(offered, ", ")));
  }
  std::vector<PublishedFigure> figures;
  std::ranges::copy_if(
      published_figures(), std::back_inserter(figures),
      [&](const PublishedFigure& figure) { return figure.gpu == matching.front(); });
  return figures;
}

std::vector<BesidePublished> beside_published(const BenchRun& run,
                                              const std::vector<PublishedFigure>& published) {
  const Roofline roofline = make_roofline(run);
  std::vector<BesidePublished> rows;
  for (const PublishedFigure& figure : published) {
    BesidePublished row{figure, std::nullopt, std::nullopt, std::nullopt, std::nullopt, ""};
    const std::optional<Found> found = find_figure(run, roofline, figure.what);
    if (!found || !(found->value > 0)) {
      row.why = "not measured in this run";
    } else if (!same_unit(found->unit, figure.unit)) {
      row.why = fmt::format("measured in {}, published in {}", found->unit, figure.unit);
    } else {
      row.measured = found->value;
      row.lower = found->lower;
      row.upper = found->upper;
      row.ratio = figure.value / found->value;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace gputrace::analysis
