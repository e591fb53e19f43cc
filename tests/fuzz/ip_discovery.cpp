// The version of the graphics core from any folder names and files. The input: lines of names up to
// an empty one, then four lines (major, minor, revision, harvest) an instance.
#include "daemon/os/ip_discovery.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace {

using gputrace::os::IpInstanceText;

/// A line "-" is a file that is not there.
std::optional<std::string> take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line == "-" ? std::nullopt : std::optional(std::move(line));
}

bool is_whole(const IpInstanceText& instance) {
  return instance.major && instance.minor && instance.revision;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;
  while (!text.empty()) {
    std::string name = take_line(text).value_or("-");
    if (name.empty()) {
      break;
    }
    names.push_back(std::move(name));
  }
  const std::vector<unsigned> numbers = gputrace::os::numbers_among(names);
  GPUTRACE_CHECK(numbers.size() <= names.size());
  GPUTRACE_CHECK(std::is_sorted(numbers.begin(), numbers.end()));

  std::vector<IpInstanceText> instances;
  while (!text.empty()) {
    IpInstanceText instance;
    instance.major = take_line(text);
    instance.minor = take_line(text);
    instance.revision = take_line(text);
    instance.harvest = take_line(text);
    instances.push_back(std::move(instance));
  }
  const auto chosen = gputrace::os::choose_ip_version(instances);
  GPUTRACE_CHECK(!chosen || std::any_of(instances.begin(), instances.end(), is_whole));
  // The choice is one of theirs, and none that is fused off while another is not.
  std::optional<gputrace::regdb::GcVersion> first_alone;
  for (const IpInstanceText& instance : instances) {
    IpInstanceText in_use = instance;
    const auto alone = gputrace::os::choose_ip_version({&instance, 1});
    in_use.harvest = "0x0";
    GPUTRACE_CHECK(gputrace::os::choose_ip_version({&in_use, 1}) == alone);
    first_alone = first_alone ? first_alone : alone;
  }
  GPUTRACE_CHECK(chosen.has_value() == first_alone.has_value());
  return 0;
}
