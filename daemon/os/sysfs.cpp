#include "daemon/os/sysfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>

#include "daemon/base/unique_fd.h"

namespace gputrace::os {

std::optional<std::string> read_text(const std::filesystem::path& file) {
  // O_NONBLOCK: a named pipe in a copied tree must not hold us; sysfs does not know the flag.
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd) {
    return std::nullopt;
  }
  std::array<char, 4096> buffer{};
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t count = ::read(fd.get(), buffer.data() + size, buffer.size() - size);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return std::nullopt;
    }
    if (count == 0) {
      break;
    }
    size += static_cast<std::size_t>(count);
  }
  std::string text(buffer.data(), size);
  text.erase(std::min(text.find('\0'), size));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t max) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || value > max) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& file, std::uint64_t max) {
  const std::optional<std::string> text = read_text(file);
  return text ? parse_number(*text, max) : std::nullopt;
}

std::optional<std::string> uevent_value(std::string_view uevent, std::string_view key) {
  while (!uevent.empty()) {
    const std::size_t end = uevent.find('\n');
    std::string_view line = uevent.substr(0, end);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=') {
      line.remove_prefix(key.size() + 1);
      return std::string(line.substr(0, line.find('\r')));
    }
    uevent.remove_prefix(end == std::string_view::npos ? uevent.size() : end + 1);
  }
  return std::nullopt;
}

std::vector<std::string> list_folder(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<unsigned> number_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  if (name.empty() || name.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = parse_number(name, std::numeric_limits<unsigned>::max());
  return number ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

}  // namespace gputrace::os
