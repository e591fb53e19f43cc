#include "kernels/vulkan/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/vulkan/device_impl.h"
#include "kernels/vulkan/format.h"
#include "kernels/vulkan/memory.h"

namespace gputrace::vulkan {

namespace {

struct ImageWish {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  Format format = Format::kRgba8;
  VkImageUsageFlags usage = 0;
  VkFormatFeatureFlags features = 0;
  std::string_view purpose;
};

struct MadeImage {
  OwnedMemory memory;
  OwnedImage image;
  OwnedImageView view;
};

Status check_format(const Context& context, const ImageWish& wish) {
  VkFormatProperties properties{};
  vkGetPhysicalDeviceFormatProperties(context.physical, vulkan_format(wish.format), &properties);
  if ((properties.optimalTilingFeatures & wish.features) != wish.features) {
    return fail(ErrorCode::kUnsupported, fmt::format("the device does not offer {} as {}",
                                                     name_of(wish.format), wish.purpose));
  }
  return {};
}

Result<OwnedImageView> view_of(const Context& context, VkImage image, Format format) {
  VkImageViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  info.image = image;
  info.viewType = VK_IMAGE_VIEW_TYPE_2D;
  info.format = vulkan_format(format);
  info.subresourceRange = {aspect_of(format), 0, 1, 0, 1};
  return OwnedImageView::create(context, info, "cannot make a view of an image");
}

Result<MadeImage> make_image(const Device::Impl& device, const ImageWish& wish) {
  const Context& context = device.context;
  if (Status ready = device.can_run(); !ready) {
    return tl::unexpected(ready.error());
  }
  if (wish.width == 0 || wish.height == 0) {
    return fail(ErrorCode::kInvalidArgument, "an image without texels cannot be made");
  }
  if (std::max(wish.width, wish.height) > device.facts.max_image_side) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} x {} texels are over the limit of {}, {} on a side", wish.width,
                            wish.height, device.facts.listed.name, device.facts.max_image_side));
  }
  if (Status offered = check_format(context, wish); !offered) {
    return tl::unexpected(offered.error());
  }
  VkImageCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = vulkan_format(wish.format);
  info.extent = {wish.width, wish.height, 1};
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = wish.usage;
  auto image = OwnedImage::create(
      context, info, fmt::format("cannot make an image of {} x {}", wish.width, wish.height));
  if (!image) {
    return tl::unexpected(image.error());
  }
  VkMemoryRequirements needs{};
  context.table.vkGetImageMemoryRequirements(context.device, image->get(), &needs);
  auto memory = allocate(context, needs, {.preferred = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT});
  if (!memory) {
    return tl::unexpected(memory.error());
  }
  const VkResult result =
      context.table.vkBindImageMemory(context.device, image->get(), memory->get(), 0);
  if (result != VK_SUCCESS) {
    return fail_vulkan(result, "cannot give an image its memory");
  }
  auto view = view_of(context, image->get(), wish.format);
  if (!view) {
    return tl::unexpected(view.error());
  }
  return MadeImage{
      .memory = std::move(*memory), .image = std::move(*image), .view = std::move(*view)};
}

/// Between whatever is done with an image and whatever comes next.
void change_layout(const Context& context, VkCommandBuffer commands, VkImage image, Format format,
                   VkImageLayout from, VkImageLayout to) {
  VkImageMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.oldLayout = from;
  barrier.newLayout = to;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image;
  barrier.subresourceRange = {aspect_of(format), 0, 1, 0, 1};
  context.table.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr,
                                     1, &barrier);
}

/// Rows of blocks that fit into the staging buffer at once; at least one does: the widest image
/// that Vulkan knows has rows of 512 KiB.
struct Rows {
  std::uint32_t bytes = 0;  ///< of one
  std::uint32_t count = 0;  ///< of the image
  std::uint32_t at_once = 0;
  std::uint32_t block = 1;
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  Rows(std::uint32_t its_width, std::uint32_t its_height, Format format, std::uint64_t room)
      : block(block_side(format)), width(its_width), height(its_height) {
    bytes = (width + block - 1) / block * static_cast<std::uint32_t>(bytes_of(format));
    count = (height + block - 1) / block;
    at_once = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, room / bytes));
  }

  [[nodiscard]] std::uint64_t all_bytes() const { return std::uint64_t{bytes} * count; }
  [[nodiscard]] VkBufferImageCopy region(std::uint32_t first, std::uint32_t rows,
                                         Format format) const {
    VkBufferImageCopy copy{};
    copy.imageSubresource = {aspect_of(format), 0, 0, 1};
    copy.imageOffset = {0, static_cast<std::int32_t>(first * block), 0};
    copy.imageExtent = {width, std::min(rows * block, height - first * block), 1};
    return copy;
  }
};

/// What a target's layout is between passes: a move out of it may decompress, which no pass shall
/// pay for.
VkImageLayout resting_layout(Format format) {
  return is_depth(format) ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL
                          : VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
}

}  // namespace

Result<std::unique_ptr<Texture::Impl>> Device::Impl::make_texture(
    const TextureDescription& description, std::span<const std::byte> texels) {
  ImageWish wish{.width = description.width,
                 .height = description.height,
                 .format = description.format,
                 .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                 .features = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT,
                 .purpose = "a texture"};
  if (description.bilinear) {
    wish.features |= VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
    wish.purpose = "a texture with a bilinear filter";
  }
  auto image = make_image(*this, wish);
  if (!image) {
    return tl::unexpected(image.error());
  }
  const Result<Buffer::Impl*> through = staging_buffer();
  if (!through) {
    return tl::unexpected(through.error());
  }
  const Format format = description.format;
  const Rows rows(description.width, description.height, format, (*through)->size);
  if (texels.size() != rows.all_bytes()) {
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} bytes are not the {} of {} x {} texels of {}", texels.size(),
                    rows.all_bytes(), description.width, description.height, name_of(format)));
  }
  const VkImage handle = image->image.get();
  for (std::uint32_t first = 0; first < rows.count; first += rows.at_once) {
    const std::uint32_t part = std::min(rows.at_once, rows.count - first);
    std::memcpy((*through)->mapped, texels.data() + std::uint64_t{first} * rows.bytes,
                std::uint64_t{part} * rows.bytes);
    const VkBufferImageCopy region = rows.region(first, part, format);
    const Status copied = run_commands([&](VkCommandBuffer commands) {
      if (first == 0) {
        change_layout(context, commands, handle, format, VK_IMAGE_LAYOUT_UNDEFINED,
                      VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
      }
      context.table.vkCmdCopyBufferToImage(commands, (*through)->buffer.get(), handle,
                                           VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
      if (first + part == rows.count) {
        change_layout(context, commands, handle, format, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                      VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
      }
    });
    if (!copied) {
      return tl::unexpected(copied.error());
    }
  }
  auto made = std::make_unique<Texture::Impl>();
  made->memory = std::move(image->memory);
  made->image = std::move(image->image);
  made->view = std::move(image->view);
  made->sampler = (description.bilinear ? bilinear : nearest).get();
  return made;
}

Result<Texture> Device::create_texture(const TextureDescription& description,
                                       std::span<const std::byte> texels) {
  if (description.format == Format::kBc7 && !impl_->facts.bc_textures) {
    return fail(ErrorCode::kUnsupported, "the device does not offer BC textures");
  }
  auto made = impl_->make_texture(description, texels);
  if (!made) {
    return tl::unexpected(made.error());
  }
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return Texture(std::move(*made));
}

Result<RenderTarget> Device::create_target(const TargetDescription& description) {
  const Format format = description.format;
  const bool depth = is_depth(format);
  const ImageWish wish{.width = description.width,
                       .height = description.height,
                       .format = format,
                       .usage = VkImageUsageFlags{VK_IMAGE_USAGE_TRANSFER_SRC_BIT} |
                                (depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
                                       : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT),
                       .features = depth ? VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT
                                         : VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT,
                       .purpose = "a target"};
  auto image = make_image(*impl_, wish);
  if (!image) {
    return tl::unexpected(image.error());
  }
  const auto passes = impl_->passes_over(format);
  if (!passes) {
    return tl::unexpected(passes.error());
  }
  const VkImageView view = image->view.get();
  VkFramebufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
  info.renderPass = (*passes)->clearing.get();
  info.attachmentCount = 1;
  info.pAttachments = &view;
  info.width = description.width;
  info.height = description.height;
  info.layers = 1;
  auto framebuffer = OwnedFramebuffer::create(impl_->context, info, "cannot make a framebuffer");
  if (!framebuffer) {
    return tl::unexpected(framebuffer.error());
  }
  const VkImage handle = image->image.get();
  const Status moved = impl_->run_commands([&](VkCommandBuffer commands) {
    change_layout(impl_->context, commands, handle, format, VK_IMAGE_LAYOUT_UNDEFINED,
                  resting_layout(format));
  });
  if (!moved) {
    return tl::unexpected(moved.error());
  }
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  auto made = std::make_unique<RenderTarget::Impl>();
  made->memory = std::move(image->memory);
  made->image = std::move(image->image);
  made->view = std::move(image->view);
  made->framebuffer = std::move(*framebuffer);
  made->description = description;
  return RenderTarget(std::move(made));
}

Result<std::vector<std::byte>> Device::download(const RenderTarget& from) {
  const RenderTarget::Impl& target = from.impl();
  const Format format = target.description.format;
  const Result<Buffer::Impl*> through = impl_->staging_buffer();
  if (!through) {
    return tl::unexpected(through.error());
  }
  const Rows rows(target.description.width, target.description.height, format, (*through)->size);
  std::vector<std::byte> data(rows.all_bytes());
  const VkImage handle = target.image.get();
  for (std::uint32_t first = 0; first < rows.count; first += rows.at_once) {
    const std::uint32_t part = std::min(rows.at_once, rows.count - first);
    const VkBufferImageCopy region = rows.region(first, part, format);
    const Status copied = impl_->run_commands([&](VkCommandBuffer commands) {
      change_layout(impl_->context, commands, handle, format, resting_layout(format),
                    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
      impl_->context.table.vkCmdCopyImageToBuffer(commands, handle,
                                                  VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                                                  (*through)->buffer.get(), 1, &region);
      change_layout(impl_->context, commands, handle, format, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                    resting_layout(format));
    });
    if (!copied) {
      return tl::unexpected(copied.error());
    }
    std::memcpy(data.data() + std::uint64_t{first} * rows.bytes, (*through)->mapped,
                std::uint64_t{part} * rows.bytes);
  }
  if (const Status valid = impl_->check_validation(); !valid) {
    return tl::unexpected(valid.error());
  }
  return data;
}

Texture::Texture(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Texture::Texture(Texture&& other) noexcept = default;
Texture& Texture::operator=(Texture&& other) noexcept = default;
Texture::~Texture() = default;

RenderTarget::RenderTarget(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RenderTarget::RenderTarget(RenderTarget&& other) noexcept = default;
RenderTarget& RenderTarget::operator=(RenderTarget&& other) noexcept = default;
RenderTarget::~RenderTarget() = default;

}  // namespace gputrace::vulkan
