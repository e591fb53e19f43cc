#include "daemon/service/config.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/support/error_text.h"
#include "tests/support/temp_dir.h"

namespace gputrace::service {
namespace {

using test::error_text;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string fault_of(std::string_view text) {
  const Result<Config> config = parse_config(text, "x.toml");
  REQUIRE_FALSE(config);
  CHECK(config.error().code == ErrorCode::kInvalidArgument);
  return config.error().message;
}

/// The example with the comment signs of its keys taken away; `keys` counts them.
std::string with_keys_in_force(const std::string& example, int& keys) {
  std::string result;
  for (std::size_t at = 0; at < example.size();) {
    const std::size_t end = std::min(example.find('\n', at), example.size());
    std::string line = example.substr(at, end - at);
    at = end + 1;
    const std::size_t name_end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", 2);
    if (line.starts_with("# ") && name_end != std::string::npos && name_end > 2 &&
        line.compare(name_end, 3, " = ") == 0) {
      line.erase(0, 2);
      ++keys;
    }
    result += line + "\n";
  }
  return result;
}

TEST_CASE("the example configuration says the defaults and names every key") {
  const std::string example = text_of(GPUTRACE_SOURCE "/systemd/gputraced.toml");
  const Result<Config> as_it_is = parse_config(example, "gputraced.toml");
  REQUIRE_MESSAGE(as_it_is, error_text(as_it_is));
  CHECK(*as_it_is == Config{});

  int keys = 0;
  const std::string in_force = with_keys_in_force(example, keys);
  const Result<Config> config = parse_config(in_force, "gputraced.toml");
  REQUIRE_MESSAGE(config, error_text(config));
  CHECK(*config == Config{});

  // What the parser knows is what it lists when it is asked for something that it does not.
  int known = 0;
  for (const std::string table : {"daemon", "limits", "retention", "background"}) {
    const std::string message = fault_of("[" + table + "]\nnonsense = 1\n");
    const std::string list = message.substr(message.find("there are ") + 10);
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t end = std::min(list.find(", ", at), list.size());
      const std::string key = list.substr(at, end - at);
      CAPTURE(key);
      CHECK(in_force.find("\n" + key + " = ") != std::string::npos);
      ++known;
      at = end + 2;
    }
  }
  CHECK(keys == known);
}

TEST_CASE("an empty configuration is all defaults") {
  const Result<Config> config = parse_config("", "x.toml");
  REQUIRE_MESSAGE(config, error_text(config));
  CHECK(*config == Config{});
}

TEST_CASE("every key is taken over") {
  const Result<Config> config = parse_config(R"(
[daemon]
socket = "/run/x/y.socket"
data_dir = "/srv/gputrace/"
group = "video"
[limits]
max_rate_hz = 1500.5
recordings_per_user = 2
bytes_per_user = 123456789
clients = 7
clients_per_user = 3
reserve_bytes = 0
[retention]
sessions_days = 0.5
background_days = 3
total_bytes = "3 TiB"
[background]
enabled = true
rate_hz = 500
burst_ms = 250
every_s = 0.5
)",
                                             "x.toml");
  REQUIRE_MESSAGE(config, error_text(config));
  Config expected;
  expected.socket = "/run/x/y.socket";
  expected.data_dir = "/srv/gputrace";
  expected.group = "video";
  expected.limits = {1500.5, 2, 123'456'789, 7, 3, 0};
  expected.retention = {0.5, 3, std::uint64_t{3} << 40U};
  expected.background = {true, 500, 0.25, 0.5};
  CHECK(*config == expected);
}

TEST_CASE("sizes are bytes or text with a unit") {
  const auto size_of = [](std::string_view value) {
    return parse_config("limits.bytes_per_user = " + std::string(value), "x.toml")
        .map([](const Config& config) { return config.limits.bytes_per_user; });
  };
  CHECK(size_of("1048576").value() == 1U << 20U);
  CHECK(size_of("\"1048576 B\"").value() == 1U << 20U);
  CHECK(size_of("\"2048 KiB\"").value() == 2U << 20U);
  CHECK(size_of("\"5MiB\"").value() == 5U << 20U);
  CHECK(size_of("\"1024 TiB\"").value() == std::uint64_t{1} << 50U);
  for (const std::string_view wrong :
       {"1048575", "-1", "2.5e9", "\"2\"", "\"2 GB\"", "\"2  giB\"", "\"1025 TiB\"", "\"-2 GiB\"",
        "\"2 GiB \"", "\"\"", "\"GiB\"", "\"18446744073709551617 MiB\"", "\"17179869184 TiB\"",
        "true", "[1048576]"}) {
    CAPTURE(wrong);
    CHECK_FALSE(size_of(wrong));
  }
}

TEST_CASE("a fault is told with file, line, key and what is allowed") {
  CHECK(fault_of("[limits]\n\nmax_rate_hz = 50000\n") ==
        "x.toml:3: limits.max_rate_hz: 50000 is not a number from 1 to 20000");
  CHECK(fault_of("[background]\nenabled = \"yes\"\n") ==
        "x.toml:2: background.enabled: \"yes\" is not true or false");
  CHECK(fault_of("[daemon]\nsocket = \"run/gputraced\"\n") ==
        "x.toml:2: daemon.socket: \"run/gputraced\" is not an absolute path of at most 107 "
        "characters");
  CHECK(fault_of("[limits]\nclients = 2.5\n") ==
        "x.toml:2: limits.clients: 2.5 is not an integer from 1 to 1024");
  CHECK(fault_of("[retention]\nsession_days = 3\n") ==
        "x.toml:2: retention.session_days: no such key; there are sessions_days, "
        "background_days, total_bytes");
  CHECK(fault_of("\n[retentions]\n") ==
        "x.toml:2: retentions: no such table; there are daemon, limits, retention and background");
  CHECK(fault_of("enabled = true\n") ==
        "x.toml:1: enabled: no such table; there are daemon, limits, retention and background");
  CHECK(fault_of("limits = 3\n") == "x.toml:1: limits: 3 where a table must be");
  CHECK(fault_of("[[limits]]\nclients = 3\n") ==
        "x.toml:1: limits: an array where a table must be");
  CHECK(fault_of("[background]\nevery_s = 2\nburst_ms = 2500\n") ==
        "x.toml:3: background.burst_ms: a burst of 2500 ms is longer than every_s = 2 s");
  CHECK(fault_of("[background]\nrate_hz = 5\n")
            .starts_with("x.toml:2: background.burst_ms: a burst "
                         "of 100 ms has no sample"));
  CHECK(fault_of("[limits]\nclients = = 3\n").starts_with("x.toml:2: not TOML: "));
  CHECK(fault_of("[limits]\nclients = 3\nclients = 3\n").starts_with("x.toml:3: not TOML: "));
}

TEST_CASE("values that only look right are refused") {
  for (const std::string_view text : {"limits.max_rate_hz = nan",
                                      "limits.max_rate_hz = inf",
                                      "limits.max_rate_hz = 0.5",
                                      "limits.max_rate_hz = \"1000\"",
                                      "limits.clients = 0",
                                      "limits.clients = 4294967297",
                                      "limits.recordings_per_user = 65",
                                      "limits.recordings_per_user = -1",
                                      "retention.sessions_days = 0",
                                      "retention.sessions_days = -inf",
                                      "background.enabled = 1",
                                      "background.burst_ms = 9",
                                      "background.every_s = 3601",
                                      "daemon.group = \"\"",
                                      "daemon.group = \"-x\"",
                                      "daemon.group = \"a b\"",
                                      "daemon.group = 5",
                                      "daemon.data_dir = \"/\"",
                                      "daemon.data_dir = \"/x/../\"",
                                      "daemon.data_dir = \"\"",
                                      "daemon.data_dir = \"/a\\u0000b\"",
                                      "daemon.socket = 1979-05-27"}) {
    CAPTURE(text);
    CHECK(fault_of(text).starts_with("x.toml:1: "));
  }
  CHECK(fault_of("daemon.socket = \"/" + std::string(107, 'x') + "\"").size() < 250);
}

TEST_CASE("what a message shows of the file is short and has no control characters") {
  const std::string message = fault_of("\"a\\u001b[31m\\nb\" = 1");
  CHECK(message.find('\x1b') == std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  CHECK(fault_of("\"" + std::string(5000, 'a') + "\" = 1").size() < 250);
}

TEST_CASE("deep nesting is refused, not followed until the stack is full") {
  CHECK(fault_of("a = " + std::string(100'000, '[')).starts_with("x.toml:1: "));
  std::string dotted = "\na";
  for (int i = 0; i < 200'000; ++i) {
    dotted += ".a";
  }
  CHECK(fault_of(dotted + " = 1").starts_with("x.toml:2: more than 100 dots in a line"));
  CHECK(fault_of("# " + std::string(100, '.') + "\n[" + dotted.substr(1) + "]")
            .starts_with("x.toml:2: more than 100 dots"));
}

TEST_CASE("a configuration file is read, and what is none is refused") {
  const test::TempDir dir;
  const auto file = dir.path() / "gputraced.toml";
  std::ofstream(file) << "[limits]\nclients = 9\n";
  const Result<Config> config = read_config(file);
  REQUIRE_MESSAGE(config, error_text(config));
  CHECK(config->limits.clients == 9);

  std::ofstream(file) << "[limits]\nclients = none\n";
  CHECK(error_text(read_config(file)).starts_with(file.string() + ":2: "));

  const Result<Config> absent = read_config(dir.path() / "absent.toml");
  REQUIRE_FALSE(absent);
  CHECK(absent.error().code == ErrorCode::kNotFound);

  const Result<Config> folder = read_config(dir.path());
  REQUIRE_FALSE(folder);
  CHECK(folder.error().message.find("not a regular file") != std::string::npos);

  // A FIFO without a writer would be waited for.
  REQUIRE(::mkfifo((dir.path() / "fifo").c_str(), 0600) == 0);
  CHECK_FALSE(read_config(dir.path() / "fifo"));

  std::ofstream(file) << std::string((1U << 20U) + 1, '\n');
  CHECK(error_text(read_config(file)).find("over 1 MiB") != std::string::npos);
}

}  // namespace
}  // namespace gputrace::service
