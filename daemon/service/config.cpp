#include "daemon/service/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <optional>

#include "daemon/base/unique_fd.h"
#include "daemon/sampler/sampling_loop.h"

namespace gputrace::service {

namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20U;
/// toml++ limits the depth of values (TOML_MAX_NESTED_VALUES) but not that of dotted keys, and its
/// tables are destroyed recursively.
constexpr std::ptrdiff_t kMaxDotsInLine = 100;
constexpr std::size_t kMaxShownText = 64;
constexpr std::size_t kMaxGroupName = 32;  // useradd(8)
constexpr double kMaxDays = 36'500;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 50U;

/// For messages, which are one line.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, kMaxShownText));
  std::replace_if(
      result.begin(), result.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return text.size() > kMaxShownText ? result + "..." : result;
}

std::string shown(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return fmt::format("\"{}\"", shown(std::string_view(text->get())));
  }
  if (const auto* integer = node.as_integer()) {
    return fmt::format("{}", integer->get());
  }
  if (const auto* number = node.as_floating_point()) {
    return fmt::format("{}", number->get());
  }
  if (const auto* boolean = node.as_boolean()) {
    return boolean->get() ? "true" : "false";
  }
  return node.is_table() ? "a table" : node.is_array() ? "an array" : "a date or time";
}

/// An integer or a fraction; nothing for nan and what is out of range.
std::optional<double> number_in(const toml::node& node, double low, double high) {
  std::optional<double> number;
  if (const auto* integer = node.as_integer()) {
    number = static_cast<double>(integer->get());
  } else if (const auto* fraction = node.as_floating_point()) {
    number = fraction->get();
  }
  return number && *number >= low && *number <= high ? number : std::nullopt;
}

std::optional<std::uint32_t> count_in(const toml::node& node, std::uint32_t low,
                                      std::uint32_t high) {
  const auto* integer = node.as_integer();
  if (integer == nullptr || integer->get() < low || integer->get() > high) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(integer->get());
}

/// "2 GiB" or "512MiB".
std::optional<std::uint64_t> bytes_of_text(std::string_view text) {
  std::uint64_t count = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  const auto* found = std::find(kUnits.begin(), kUnits.end(), unit);
  const auto shift = 10U * static_cast<unsigned>(found - kUnits.begin());
  if (found == kUnits.end() || count > kMaxBytes >> shift) {
    return std::nullopt;
  }
  return count << shift;
}

std::optional<std::uint64_t> bytes_from(const toml::node& node, std::uint64_t low) {
  std::optional<std::uint64_t> bytes;
  if (const auto* integer = node.as_integer(); integer != nullptr && integer->get() >= 0) {
    bytes = static_cast<std::uint64_t>(integer->get());
  } else if (const auto* text = node.as_string()) {
    bytes = bytes_of_text(text->get());
  }
  return bytes && *bytes >= low && *bytes <= kMaxBytes ? bytes : std::nullopt;
}

std::optional<std::filesystem::path> path_from(const toml::node& node, std::size_t max_length) {
  const auto* text = node.as_string();
  if (text == nullptr || !text->get().starts_with('/') || text->get().size() > max_length ||
      text->get().find('\0') != std::string::npos) {
    return std::nullopt;
  }
  std::filesystem::path path = std::filesystem::path(text->get()).lexically_normal();
  if (!path.has_filename()) {  // "/var/lib/" is "/var/lib"; "/" is refused
    path = path.parent_path();
  }
  return path.has_filename() ? std::optional(path) : std::nullopt;
}

std::optional<std::string> group_from(const toml::node& node) {
  const auto* text = node.as_string();
  if (text == nullptr || text->get().empty() || text->get().size() > kMaxGroupName) {
    return std::nullopt;
  }
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  const std::string& name = text->get();
  return std::all_of(name.begin(), name.end(), plain) && name.front() != '-' ? std::optional(name)
                                                                             : std::nullopt;
}

/// False when `found` is absent.
template <class T, class Field>
bool put(const std::optional<T>& found, Field& field) {
  if (found) {
    field = *found;
  }
  return found.has_value();
}

struct Key {
  std::string_view table;
  std::string_view name;
  std::string_view allowed;
  bool (*read)(const toml::node& node, Config& config);
};

constexpr std::string_view kAllowedRate = "a number from 1 to 20000";
static_assert(sampler::kMaxRateHz == 20'000);
constexpr std::string_view kAllowedClients = "an integer from 1 to 1024";
constexpr std::string_view kAllowedBytes = "a size from \"1 MiB\" to \"1024 TiB\", or in bytes";
constexpr std::string_view kAllowedDays = "a number of days from 0.01 to 36500";

constexpr std::array<Key, 16> kKeys{{
    {"daemon", "socket", "an absolute path of at most 107 characters",  // unix(7)
     [](const toml::node& node, Config& config) {
       return put(path_from(node, sizeof(sockaddr_un{}.sun_path) - 1), config.socket);
     }},
    {"daemon", "data_dir", "an absolute path of a folder other than /",
     [](const toml::node& node, Config& config) {
       return put(path_from(node, 1024), config.data_dir);
     }},
    {"daemon", "group", "the name of a group",
     [](const toml::node& node, Config& config) { return put(group_from(node), config.group); }},
    {"limits", "max_rate_hz", kAllowedRate,
     [](const toml::node& node, Config& config) {
       return put(number_in(node, 1, sampler::kMaxRateHz), config.limits.max_rate_hz);
     }},
    {"limits", "recordings_per_user", "an integer from 1 to 64",
     [](const toml::node& node, Config& config) {
       return put(count_in(node, 1, 64), config.limits.recordings_per_user);
     }},
    {"limits", "bytes_per_user", kAllowedBytes,
     [](const toml::node& node, Config& config) {
       return put(bytes_from(node, kMiB), config.limits.bytes_per_user);
     }},
    {"limits", "clients", kAllowedClients,
     [](const toml::node& node, Config& config) {
       return put(count_in(node, 1, 1024), config.limits.clients);
     }},
    {"limits", "clients_per_user", kAllowedClients,
     [](const toml::node& node, Config& config) {
       return put(count_in(node, 1, 1024), config.limits.clients_per_user);
     }},
    {"limits", "reserve_bytes", "a size from 0 to \"1024 TiB\"",
     [](const toml::node& node, Config& config) {
       return put(bytes_from(node, 0), config.limits.reserve_bytes);
     }},
    {"retention", "sessions_days", kAllowedDays,
     [](const toml::node& node, Config& config) {
       return put(number_in(node, 0.01, kMaxDays), config.retention.sessions_days);
     }},
    {"retention", "background_days", kAllowedDays,
     [](const toml::node& node, Config& config) {
       return put(number_in(node, 0.01, kMaxDays), config.retention.background_days);
     }},
    {"retention", "total_bytes", kAllowedBytes,
     [](const toml::node& node, Config& config) {
       return put(bytes_from(node, kMiB), config.retention.total_bytes);
     }},
    {"background", "enabled", "true or false",
     [](const toml::node& node, Config& config) {
       return put(node.value_exact<bool>(), config.background.enabled);
     }},
    {"background", "rate_hz", kAllowedRate,
     [](const toml::node& node, Config& config) {
       return put(number_in(node, 1, sampler::kMaxRateHz), config.background.rate_hz);
     }},
    {"background", "burst_ms", "a number of milliseconds from 10 to 60000",
     [](const toml::node& node, Config& config) {
       const auto burst_ms = number_in(node, 10, 60'000);
       config.background.burst_s = burst_ms.value_or(0) / 1000;
       return burst_ms.has_value();
     }},
    {"background", "every_s", "a number of seconds from 0.1 to 3600",
     [](const toml::node& node, Config& config) {
       return put(number_in(node, 0.1, 3600), config.background.every_s);
     }},
}};

/// Reads one file's keys; stops at the first fault.
class Reading {
 public:
  explicit Reading(std::string_view name) : name_(name) {}

  Result<Config> read(const toml::table& root) {
    for (const auto& [table_name, node] : root) {
      const bool known = std::any_of(kKeys.begin(), kKeys.end(),
                                     [&](const Key& key) { return key.table == table_name.str(); });
      if (!known) {
        return fault(table_name.source(), table_name.str(),
                     "no such table; there are daemon, limits, retention and background");
      }
      const auto* table = node.as_table();
      if (table == nullptr) {
        return fault(node.source(), table_name.str(),
                     fmt::format("{} where a table must be", shown(node)));
      }
      for (const auto& [key_name, value] : *table) {
        if (Status status = read_key(table_name.str(), key_name, value); !status) {
          return tl::unexpected<Error>(std::move(status.error()));
        }
      }
    }
    return check_background(root);
  }

  [[nodiscard]] tl::unexpected<Error> fault(const toml::source_region& where, std::string_view key,
                                            std::string_view what) const {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}:{}: {}: {}", name_, where.begin.line, shown(key), what));
  }

 private:
  Status read_key(std::string_view table, const toml::key& key_name, const toml::node& value) {
    const std::string full_name = fmt::format("{}.{}", table, key_name.str());
    const auto* key = std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& each) {
      return each.table == table && each.name == key_name.str();
    });
    if (key == kKeys.end()) {
      std::string names;
      for (const Key& each : kKeys) {
        if (each.table == table) {
          names += (names.empty() ? "" : ", ") + std::string(each.name);
        }
      }
      return fault(key_name.source(), full_name, "no such key; there are " + names);
    }
    if (!key->read(value, config_)) {
      return fault(value.source(), full_name,
                   fmt::format("{} is not {}", shown(value), key->allowed));
    }
    return {};
  }

  /// Keys that must fit each other. The line is that of the first that the file has.
  [[nodiscard]] Result<Config> check_background(const toml::table& root) const {
    const Config::Background& background = config_.background;
    const auto line_of = [&](std::initializer_list<std::string_view> keys) {
      for (const std::string_view key : keys) {
        if (const toml::node* node = root["background"][key].node()) {
          return node->source();
        }
      }
      return toml::source_region{};
    };
    if (background.burst_s > background.every_s) {
      return fault(line_of({"burst_ms", "every_s"}), "background.burst_ms",
                   fmt::format("a burst of {} ms is longer than every_s = {} s",
                               background.burst_s * 1000, background.every_s));
    }
    if (background.burst_s * background.rate_hz < 1) {
      return fault(line_of({"burst_ms", "rate_hz"}), "background.burst_ms",
                   fmt::format("a burst of {} ms has no sample at rate_hz = {}; allowed is at "
                               "least one period",
                               background.burst_s * 1000, background.rate_hz));
    }
    return config_;
  }

  std::string_view name_;
  Config config_;
};

Status check_dots(std::string_view text, std::string_view name) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (std::count(row.begin(), row.end(), '.') > kMaxDotsInLine) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}:{}: more than {} dots in a line; no key or path needs them", name,
                              line, kMaxDotsInLine));
    }
  }
  return {};
}

}  // namespace

Result<Config> parse_config(std::string_view text, std::string_view name) {
  if (text.size() > kMaxFileBytes) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}:1: the file is over 1 MiB, which is no configuration", name));
  }
  if (Status status = check_dots(text, name); !status) {
    return tl::unexpected<Error>(std::move(status.error()));
  }
  try {
    return Reading(name).read(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{}:{}: not TOML: {}", name, error.source().begin.line,
                            shown(error.description())));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot parse {}: {}", name, error.what()));
  }
}

Result<Config> read_config(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const std::string what = "cannot read the configuration " + file.string();
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return fail_errno(errno, what);
  }
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, what + ": it is not a regular file");
  }
  std::string text(kMaxFileBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0) {
      return fail_errno(errno, what);
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return parse_config(text, file.string());
}

}  // namespace gputrace::service
