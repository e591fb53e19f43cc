#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "kernels/vulkan/device_impl.h"
#include "kernels/vulkan/physical_device.h"

namespace gputrace::vulkan {

namespace {

/// Asks twice, as Vulkan's lists are: how many, then which. `Item` is filled with its type.
template <class Item, class Ask>
Result<std::vector<Item>> list_of(VkStructureType type, const Ask& ask) {
  std::uint32_t count = 0;
  VkResult result = ask(&count, nullptr);
  Item empty{};
  empty.sType = type;
  std::vector<Item> items(count, empty);
  if (result == VK_SUCCESS && count > 0) {
    result = ask(&count, items.data());
    items.resize(count);
  }
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot read what the driver compiled");
  }
  return items;
}

double value_of(const VkPipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
      return statistic.value.b32 != 0 ? 1 : 0;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
      return static_cast<double>(statistic.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
      return static_cast<double>(statistic.value.u64);
    default:
      return statistic.value.f64;
  }
}

bool is_assembly(const VkPipelineExecutableInternalRepresentationKHR& representation) {
  std::string name = text_of(representation.name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return representation.isText != 0 && name.find("assembly") != std::string::npos;
}

/// Empty where the driver shows none.
Result<std::string> assembly_of(const Context& context, const VkPipelineExecutableInfoKHR& which) {
  using Representation = VkPipelineExecutableInternalRepresentationKHR;
  const auto ask = [&](std::uint32_t* count, Representation* items) {
    return context.table.vkGetPipelineExecutableInternalRepresentationsKHR(context.device, &which,
                                                                           count, items);
  };
  auto found = list_of<Representation>(
      VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR, ask);
  if (!found) {
    return tl::unexpected(found.error());
  }
  std::vector<std::string> texts(found->size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i].resize((*found)[i].dataSize);
    (*found)[i].pData = texts[i].data();
  }
  auto count = static_cast<std::uint32_t>(found->size());
  if (const VkResult result = count > 0 ? ask(&count, found->data()) : VK_SUCCESS;
      result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot read what the driver compiled");
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (is_assembly((*found)[i])) {
      texts[i].resize(std::min(texts[i].size(), texts[i].find('\0')));
      return texts[i];
    }
  }
  return std::string();
}

}  // namespace

std::optional<double> Executable::statistic(std::string_view wanted) const {
  const auto found = std::find_if(statistics.begin(), statistics.end(),
                                  [&](const Statistic& each) { return each.name == wanted; });
  return found == statistics.end() ? std::nullopt : std::optional(found->value);
}

Result<std::vector<Executable>> Pipeline::executables() const {
  if (!impl_->shows_executables) {
    return fail(ErrorCode::kUnsupported,
                "the driver does not show its code (no VK_KHR_pipeline_executable_properties)");
  }
  const Context& context = *impl_->context;
  VkPipelineInfoKHR pipeline{};
  pipeline.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR;
  pipeline.pipeline = impl_->pipeline.get();
  const auto stages = list_of<VkPipelineExecutablePropertiesKHR>(
      VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR,
      [&](std::uint32_t* count, VkPipelineExecutablePropertiesKHR* items) {
        return context.table.vkGetPipelineExecutablePropertiesKHR(context.device, &pipeline, count,
                                                                  items);
      });
  if (!stages) {
    return tl::unexpected(stages.error());
  }
  std::vector<Executable> executables;
  for (std::uint32_t i = 0; i < stages->size(); ++i) {
    VkPipelineExecutableInfoKHR which{};
    which.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR;
    which.pipeline = impl_->pipeline.get();
    which.executableIndex = i;
    const auto statistics = list_of<VkPipelineExecutableStatisticKHR>(
        VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR,
        [&](std::uint32_t* count, VkPipelineExecutableStatisticKHR* items) {
          return context.table.vkGetPipelineExecutableStatisticsKHR(context.device, &which, count,
                                                                    items);
        });
    if (!statistics) {
      return tl::unexpected(statistics.error());
    }
    auto assembly = assembly_of(context, which);
    if (!assembly) {
      return tl::unexpected(assembly.error());
    }
    Executable& executable = executables.emplace_back();
    executable.name = text_of((*stages)[i].name);
    executable.subgroup_size = (*stages)[i].subgroupSize;
    executable.assembly = std::move(*assembly);
    for (const VkPipelineExecutableStatisticKHR& each : *statistics) {
      executable.statistics.push_back({.name = text_of(each.name), .value = value_of(each)});
    }
  }
  return executables;
}

}  // namespace gputrace::vulkan
