#include "daemon/os/sensors/file_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "daemon/base/result.h"

namespace gputrace::os {

using sampler::SensorOutcome;

ssize_t read_whole(UniqueFd& fd, const std::filesystem::path& path,
                   std::span<std::byte> buffer) noexcept {
  if (!fd) {
    // O_NONBLOCK: a named pipe in a copied tree must not hold us; sysfs does not know the flag.
    fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd) {
      return -1;
    }
  }
  ssize_t size = 0;
  do {
    size = ::pread(fd.get(), buffer.data(), buffer.size(), 0);
  } while (size < 0 && errno == EINTR);
  if (size < 0) {
    const int error_number = errno;
    fd.reset();
    errno = error_number;
  }
  return size;
}

FileReader::FileReader(SensorFile file) : file_(std::move(file)) {}

std::string_view FileReader::name() const noexcept {
  return file_.reader_name;
}

std::span<const sampler::SensorDescription> FileReader::sensors() const noexcept {
  return {&file_.description, 1};
}

bool FileReader::needs_gpu_awake() const noexcept {
  return file_.needs_gpu_awake;
}

double FileReader::max_rate_hz() const noexcept {
  return file_.max_rate_hz;
}

SensorOutcome FileReader::read(std::span<std::optional<double>> values) noexcept {
  values[0].reset();
  error_number_ = 0;
  if (is_form_broken_) {
    return SensorOutcome::kRejected;
  }
  const ssize_t size = read_whole(fd_, file_.path, std::as_writable_bytes(std::span(text_)));
  size_ = size > 0 ? static_cast<std::size_t>(size) : 0;
  if (size < 0) {
    error_number_ = errno;
    return SensorOutcome::kFailed;
  }
  const ParsedValue parsed = parse_value(text(), file_.format);
  problem_ = parsed.reason;
  switch (parsed.state) {
    case ValueState::kValue:
      values[0] = parsed.value;
      return SensorOutcome::kRead;
    case ValueState::kAbsent:
      return SensorOutcome::kRead;
    case ValueState::kFormBroken:
      is_form_broken_ = true;
      return SensorOutcome::kRejected;
    case ValueState::kImpossible:
      break;
  }
  return SensorOutcome::kRejected;
}

void FileReader::release() noexcept {
  fd_.reset();
}

std::string FileReader::last_error() const {
  if (error_number_ != 0) {
    return error_from_errno(error_number_, "cannot read " + file_.path.string()).message;
  }
  return problem_.empty() ? std::string() : fmt::format("{}: {}", file_.path.string(), problem_);
}

sampler::SensorEvidence FileReader::evidence(std::size_t /*sensor*/) const {
  return {.raw = std::string(clean_text(text())), .absent = last_error()};
}

}  // namespace gputrace::os
