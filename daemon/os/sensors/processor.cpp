#include "daemon/os/sensors/processor.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "daemon/os/sysfs.h"

namespace gputrace::os {

namespace {

std::optional<std::string_view> value_of(std::string_view cpuinfo, std::string_view key) {
  while (!cpuinfo.empty()) {
    const std::size_t end = cpuinfo.find('\n');
    const std::string_view line = cpuinfo.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos &&
        line.substr(0, line.substr(0, colon).find_last_not_of(" \t") + 1) == key) {
      return line.substr(std::min(line.find_first_not_of(" \t", colon + 1), line.size()));
    }
    cpuinfo.remove_prefix(end == std::string_view::npos ? cpuinfo.size() : end + 1);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> hex_after(std::string_view text, std::string_view key,
                                       std::size_t digits) {
  const std::size_t at = text.find(key);
  return at == std::string_view::npos
             ? std::nullopt
             : parse_number("0x" + std::string(text.substr(at + key.size(), digits)), 0xffff);
}

/// "cpu:type:x86,ven0002fam0019mod0074:feature:..." (arch/x86/kernel/cpu/match.c): in sandboxes
/// that hide /proc/cpuinfo, as gputraced's does (ProcSubset=pid).
std::optional<Processor> from_modalias(const SystemRoots& roots) {
  constexpr std::uint64_t kIntel = 0;  // X86_VENDOR_* of arch/x86/include/asm/processor.h
  constexpr std::uint64_t kAmd = 2;
  const auto text = read_text(roots.sys / "devices/system/cpu/modalias");
  if (!text || !text->starts_with("cpu:type:x86,ven")) {
    return std::nullopt;
  }
  const auto vendor = hex_after(*text, ",ven", 4);
  const auto family = hex_after(*text, "fam", 4);
  const auto model = hex_after(*text, "mod", 4);
  if (!vendor || !family || !model || (*vendor != kIntel && *vendor != kAmd)) {
    return std::nullopt;
  }
  return Processor{*vendor == kAmd ? "AuthenticAMD" : "GenuineIntel", "",
                   static_cast<unsigned>(*family), static_cast<unsigned>(*model)};
}

}  // namespace

std::optional<Processor> read_processor(const SystemRoots& roots) {
  const auto cpuinfo = read_text(roots.proc / "cpuinfo");  // the lines of the first CPU fit in
  if (!cpuinfo) {
    return from_modalias(roots);
  }
  const auto number = [&](std::string_view key) {
    const auto text = value_of(*cpuinfo, key);
    return text ? parse_number(*text, 0xffff) : std::nullopt;
  };
  const auto vendor = value_of(*cpuinfo, "vendor_id");
  const auto family = number("cpu family");
  const auto model = number("model");
  if (!vendor || !family || !model) {
    return std::nullopt;
  }
  return Processor{std::string(*vendor),
                   std::string(value_of(*cpuinfo, "model name").value_or(std::string_view())),
                   static_cast<unsigned>(*family), static_cast<unsigned>(*model)};
}

}  // namespace gputrace::os
