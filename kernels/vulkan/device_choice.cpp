#include "kernels/vulkan/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace gputrace::vulkan {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string list(std::span<const ListedDevice> devices) {
  std::string text;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    text += fmt::format("{} {}: {}", i == 0 ? "" : ";", i, devices[i].name);
    if (const std::optional<std::string>& pci = devices[i].pci) {
      text += " at " + *pci;
    }
  }
  return text;
}

std::optional<std::size_t> index_in(std::string_view choice) {
  std::size_t index = 0;
  const char* const begin = choice.data();
  const char* const end = begin + choice.size();
  const auto [stopped, error] = std::from_chars(begin, end, index);
  const bool is_number = !choice.empty() && choice.find_first_not_of("0123456789") == choice.npos;
  return is_number && stopped == end && error == std::errc() ? std::optional(index) : std::nullopt;
}

/// With or without the domain, as lspci prints it.
bool is_at(const ListedDevice& device, std::string_view choice) {
  return device.pci && (*device.pci == choice ||
                        (device.pci->starts_with("0000:") && device.pci->substr(5) == choice));
}

}  // namespace

Result<std::size_t> choose_device(std::span<const ListedDevice> devices, std::string_view choice) {
  if (devices.empty()) {
    return fail(ErrorCode::kNotFound, "the Vulkan drivers found no device");
  }
  if (choice.empty()) {
    const auto real = std::find_if(devices.begin(), devices.end(),
                                   [](const ListedDevice& each) { return each.type != "CPU"; });
    return real == devices.end() ? 0 : static_cast<std::size_t>(real - devices.begin());
  }
  if (const std::optional<std::size_t> index = index_in(choice); index && *index < devices.size()) {
    return *index;
  }
  const std::string wanted = lower(choice);
  std::vector<std::size_t> named;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (is_at(devices[i], wanted)) {
      return i;
    }
    if (lower(devices[i].name).find(wanted) != std::string::npos) {
      named.push_back(i);
    }
  }
  if (named.size() == 1) {
    return named.front();
  }
  return fail(named.empty() ? ErrorCode::kNotFound : ErrorCode::kInvalidArgument,
              fmt::format("{} Vulkan device \"{}\"; the devices are:{}",
                          named.empty() ? "there is no" : "more than one name fits", choice,
                          list(devices)));
}

}  // namespace gputrace::vulkan
