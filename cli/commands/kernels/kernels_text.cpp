#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/commands/kernels/verification.h"
#include "cli/report/terminal_text.h"
#include "kernels/bench/isa/classify.h"

namespace gputrace::commands {
namespace {

constexpr std::size_t kColumns = 9;
constexpr std::size_t kWidth = 80;
constexpr std::string_view kOnce = " once";

using Row = std::array<std::string, kColumns>;

std::string number_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

/// What the code has of operations that begin so: "4", or with those outside of the loop "4+1".
std::string transfers(const bench::IsaCheck& isa, std::string_view begin) {
  double trip = 0;
  double once = 0;
  for (const analysis::CountCheck& count : isa.counts) {
    if (count.operation.starts_with(begin)) {
      (count.operation.ends_with(kOnce) ? once : trip) += count.isa.value_or(0);
    }
  }
  return once > 0 ? fmt::format("{:.0f}+{:.0f}", trip, once) : fmt::format("{:.0f}", trip);
}

/// The operation that the kernel is about: the first of its formula.
std::string counted(const bench::IsaCheck& isa) {
  if (isa.counts.empty()) {
    return "-";
  }
  const analysis::CountCheck& first = isa.counts.front();
  return fmt::format("{} {:g}/{:g}", first.operation, first.formula, first.isa.value_or(0));
}

Row row_of(const KernelVerdict& kernel) {
  const bench::IsaCheck& isa = kernel.isa;
  return {kernel.id,
          isa.subgroup_size ? fmt::format("{}", *isa.subgroup_size) : "-",
          counted(isa),
          isa.counts.empty() ? "-" : transfers(isa, "load ") + "/" + transfers(isa, "store "),
          number_or_dash(isa.code_bytes),
          number_or_dash(isa.vgprs),
          number_or_dash(isa.waves_per_simd),
          isa.arithmetic_share ? fmt::format("{:.0f} %", *isa.arithmetic_share * 100) : "-",
          std::string(name_of(kernel.verdict))};
}

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      widths.at(i) = std::max(widths.at(i), row.at(i).size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const bool is_word = i == 0 || i == 2 || i + 1 == kColumns;
      line += is_word ? fmt::format("{:<{}}  ", row.at(i), widths.at(i))
                      : fmt::format("{:>{}}  ", row.at(i), widths.at(i));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

struct Reason {
  std::string id;  ///< of the first kernel that it is of
  std::size_t others = 0;
  std::string why;
};

/// Why kernels did not pass, each reason once.
std::vector<Reason> reasons_of(const Verification& verification) {
  std::vector<Reason> reasons;
  for (const KernelVerdict& kernel : verification.kernels) {
    if (kernel.verdict == Verdict::kPassed || kernel.verdict == Verdict::kNoFormula) {
      continue;
    }
    std::string why = kernel.isa.why;
    if (why.starts_with(kernel.id + ": ")) {
      why.erase(0, kernel.id.size() + 2);
    }
    const auto same = std::find_if(reasons.begin(), reasons.end(),
                                   [&](const Reason& reason) { return reason.why == why; });
    if (same == reasons.end()) {
      reasons.push_back({kernel.id, 0, std::move(why)});
    } else {
      ++same->others;
    }
  }
  return reasons;
}

std::string summary(const Verification& verification) {
  std::string text = fmt::format("{} kernels", verification.kernels.size());
  for (const Verdict verdict : {Verdict::kPassed, Verdict::kFailed, Verdict::kNotDone,
                                Verdict::kNoFormula, Verdict::kSkipped}) {
    const auto count =
        std::count_if(verification.kernels.begin(), verification.kernels.end(),
                      [&](const KernelVerdict& kernel) { return kernel.verdict == verdict; });
    if (count > 0) {
      text += fmt::format(", {} {}", count, name_of(verdict));
    }
  }
  return text + "\n";
}

}  // namespace

std::string to_text(const Verification& verification) {
  std::string device = verification.device;
  if (!verification.driver_info.empty()) {
    device += fmt::format(", {}", verification.driver_info);
  }
  if (!verification.family.empty()) {
    device += fmt::format(", compiled for {} without the GPU", verification.family);
  }
  std::string text = report::escape_for_terminal(device, false) + "\n\n";
  std::vector<Row> rows{{"kernel", "wave", "formula/code a trip", "loads/stores", "bytes", "VGPRs",
                         "waves", "share", "verdict"}};
  for (const KernelVerdict& kernel : verification.kernels) {
    rows.push_back(row_of(kernel));
  }
  text += table(rows) + "\n";
  for (const Reason& reason : reasons_of(verification)) {
    const std::string others =
        reason.others > 0 ? fmt::format(" and {} more", reason.others) : std::string();
    const std::string line = fmt::format("{}{}: {}", reason.id, others, reason.why);
    for (const std::string& part :
         report::wrap(report::escape_for_terminal(line, false), kWidth, 2)) {
      text += part + "\n";
    }
  }
  return text + summary(verification);
}

std::string kernels_to_text(const std::vector<bench::KernelCase>& kernels) {
  std::size_t width = 0;
  for (const bench::KernelCase& kernel : kernels) {
    width = std::max(width, kernel.id.size());
  }
  std::string text;
  for (const bench::KernelCase& kernel : kernels) {
    text += fmt::format("{:<{}}  {}\n", kernel.id, width, kernel.description);
  }
  return text;
}

}  // namespace gputrace::commands
