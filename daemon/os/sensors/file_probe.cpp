#include "daemon/os/sensors/file_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <system_error>
#include <utility>

#include "daemon/os/sensors/deadline.h"
#include "daemon/os/sensors/file_reader.h"

namespace gputrace::os {

namespace {

/// ENOTSUPP of the kernel's own headers, which some drivers let out.
constexpr int kKernelNotSupported = 524;

FileAnswer read_answer(const std::filesystem::path& path) {
  UniqueFd fd;
  std::array<char, kMaxFileText> text{};
  const ssize_t size = read_whole(fd, path, std::as_writable_bytes(std::span(text)));
  if (size < 0) {
    return {errno, {}};
  }
  return {0, std::string(text.data(), static_cast<std::size_t>(size))};
}

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number);
}

/// Returns whether a reader makes sense.
bool judge_error(int error_number, const std::string& path, SourceFinding& finding) {
  finding.error_number = error_number;
  finding.reason = fmt::format("cannot read {}: {}", path, errno_text(error_number));
  switch (error_number) {
    case EOPNOTSUPP:
    case ENODATA:
    case EINVAL:
    case ENOENT:
    case kKernelNotSupported:
      // What amdgpu answers for a sensor that this chip's firmware does not have.
      finding.state = SourceState::kAbsent;
      return false;
    case EACCES:
      finding.state = SourceState::kRefused;
      finding.fix =
          "allow reading it: the kernel makes it readable for all, a container or a "
          "security module may not";
      return false;
    case EPERM:
      finding.state = SourceState::kRefused;
      finding.reason += " (the driver's answer during a reset, and of a GPU that sleeps)";
      finding.fix = "try again when the GPU is awake";
      return true;
    default:
      finding.state = SourceState::kBroken;
      finding.fix = "see the kernel's log (dmesg) for messages of amdgpu";
      return true;
  }
}

bool judge_text(const std::string& text, const SensorFile& file, SourceFinding& finding) {
  const ParsedValue parsed = parse_value(text, file.format);
  if (parsed.state == ValueState::kValue) {
    finding.state = SourceState::kWorks;
    finding.reason = file.path.string();
    return true;
  }
  finding.reason = fmt::format("{}: {}", file.path.string(), parsed.reason);
  if (parsed.state == ValueState::kAbsent) {
    finding.state = SourceState::kAbsent;
    return !clean_text(text).empty();
  }
  finding.state = SourceState::kBroken;
  return true;
}

}  // namespace

std::optional<FileAnswer> FileProbe::ask(const SensorFile& file) {
  if (!stuck_.empty()) {
    return std::nullopt;
  }
  auto answer = within<FileAnswer>(
      deadline_, std::function<FileAnswer()>([path = file.path] { return read_answer(path); }));
  if (!answer) {
    set_stuck(file.reader_name);
  }
  return answer;
}

void FileProbe::set_stuck(const std::string& source) {
  stuck_ = fmt::format("{} did not answer within {} ms", source, deadline_.count());
}

void decide_power_form(std::vector<SensorFile>& files,
                       const std::vector<std::optional<FileAnswer>>& answers) {
  const SensorFile* proof = nullptr;
  bool is_asked = false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::optional<FileAnswer>& answer = answers[i];
    if (files[i].format.form == TextForm::kPower && answer && answer->error_number == 0) {
      is_asked = is_asked || parse_value(answer->text, files[i].format).state == ValueState::kValue;
      proof = is_plain_microwatts(answer->text) ? &files[i] : proof;
    }
  }
  std::string decision = "8.8 fixed point, as amdgpu prints power: its thousandths are 1/256 W; ";
  decision += is_asked ? "the first value can be such a number" : "no value when it was decided";
  if (proof != nullptr) {
    decision = fmt::format("plain microwatts: {} had a fraction that 8.8 fixed point cannot have",
                           proof->description.source);
  }
  for (SensorFile& file : files) {
    if (file.format.form == TextForm::kPower) {
      file.format.plain_microwatts = proof != nullptr;
      file.description.decision = decision + "; 0 is taken as not provided";
    }
  }
}

std::string series_words(const std::string& series) {
  std::string words = series;
  std::replace(words.begin(), words.end(), '_', ' ');
  return series == "package_power" ? words + ", and energy" : words;
}

void add_file(SensorFile file, const std::optional<FileAnswer>& answer, const std::string& stuck,
              OpenedSensors& opened) {
  SourceFinding finding;
  finding.source = file.reader_name;
  bool has_reader = true;
  if (!answer) {
    finding.state = stuck.empty() ? SourceState::kAsleep : SourceState::kBroken;
    finding.reason = stuck.empty()
                         ? fmt::format("{}: not read while the GPU sleeps", file.path.string())
                         : fmt::format("{}: not read: {}", file.path.string(), stuck);
    finding.fix = stuck.empty() ? "" : "see the kernel's log (dmesg) for messages of amdgpu";
  } else if (answer->error_number != 0) {
    has_reader = judge_error(answer->error_number, file.path.string(), finding);
  } else {
    has_reader = judge_text(answer->text, file, finding);
  }
  if (finding.state != SourceState::kWorks && finding.state != SourceState::kAsleep) {
    finding.loses = series_words(file.description.name);
  }
  opened.findings.push_back(std::move(finding));
  if (has_reader) {
    opened.readers.push_back(std::make_unique<FileReader>(std::move(file)));
  }
}

}  // namespace gputrace::os
