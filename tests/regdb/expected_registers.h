// What the tables must say, from the kernel's register headers, without the tables: offset, number
// of fields, busy bits, and a digest (FNV-1a, 32 bits) of "shift,width,NAME;" for each field by
// bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gputrace::test {

struct ExpectedRegister {
  std::string_view table;
  std::string_view name;
  std::uint32_t dword_offset;
  std::size_t fields;
  std::uint32_t busy_mask;
  std::uint32_t digest;
};

inline constexpr auto kExpectedRegisters = std::to_array<ExpectedRegister>({
    {"6.0", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xf3e6c0c8},
    {"6.0", "GRBM_STATUS2", 0x2002, 3, 0x00000300, 0xd4563143},
    {"6.0", "GRBM_STATUS_SE0", 0x2005, 11, 0xefc00000, 0xe9492ab1},
    {"6.0", "GRBM_STATUS_SE1", 0x2006, 11, 0xefc00000, 0xe9492ab1},
    {"7.2", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xf3e6c0c8},
    {"7.2", "GRBM_STATUS2", 0x2002, 17, 0x73000000, 0xb9818322},
    {"7.2", "GRBM_STATUS_SE0", 0x2005, 11, 0xefc00000, 0xe9492ab1},
    {"7.2", "GRBM_STATUS_SE1", 0x2006, 11, 0xefc00000, 0xe9492ab1},
    {"7.2", "GRBM_STATUS_SE2", 0x200e, 11, 0xefc00000, 0xe9492ab1},
    {"7.2", "GRBM_STATUS_SE3", 0x200f, 11, 0xefc00000, 0xe9492ab1},
    {"8.0", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xf3e6c0c8},
    {"8.0", "GRBM_STATUS2", 0x2002, 18, 0x73000000, 0x18a9fd46},
    {"8.0", "GRBM_STATUS_SE0", 0x2005, 11, 0xefc00000, 0xe9492ab1},
    {"8.0", "GRBM_STATUS_SE1", 0x2006, 11, 0xefc00000, 0xe9492ab1},
    {"8.0", "GRBM_STATUS_SE2", 0x200e, 11, 0xefc00000, 0xe9492ab1},
    {"8.0", "GRBM_STATUS_SE3", 0x200f, 11, 0xefc00000, 0xe9492ab1},
    {"8.1", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xf3e6c0c8},
    {"8.1", "GRBM_STATUS2", 0x2002, 18, 0x73000000, 0x18a9fd46},
    {"8.1", "GRBM_STATUS_SE0", 0x2005, 11, 0xefc00000, 0xe9492ab1},
    {"8.1", "GRBM_STATUS_SE1", 0x2006, 11, 0xefc00000, 0xe9492ab1},
    {"8.1", "GRBM_STATUS_SE2", 0x200e, 11, 0xefc00000, 0xe9492ab1},
    {"8.1", "GRBM_STATUS_SE3", 0x200f, 11, 0xefc00000, 0xe9492ab1},
    {"9.0", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xd58f311b},
    {"9.0", "GRBM_STATUS2", 0x2002, 25, 0xf3138000, 0xb46d4963},
    {"9.0", "GRBM_STATUS_SE0", 0x2005, 12, 0xefe00000, 0xd80baf1a},
    {"9.0", "GRBM_STATUS_SE1", 0x2006, 12, 0xefe00000, 0xd80baf1a},
    {"9.0", "GRBM_STATUS_SE2", 0x200e, 12, 0xefe00000, 0xd80baf1a},
    {"9.0", "GRBM_STATUS_SE3", 0x200f, 12, 0xefe00000, 0xd80baf1a},
    {"9.1", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xd58f311b},
    {"9.1", "GRBM_STATUS2", 0x2002, 25, 0xf3138000, 0xb46d4963},
    {"9.1", "GRBM_STATUS_SE0", 0x2005, 12, 0xefe00000, 0xd80baf1a},
    {"9.1", "GRBM_STATUS_SE1", 0x2006, 12, 0xefe00000, 0xd80baf1a},
    {"9.1", "GRBM_STATUS_SE2", 0x200e, 12, 0xefe00000, 0xd80baf1a},
    {"9.1", "GRBM_STATUS_SE3", 0x200f, 12, 0xefe00000, 0xd80baf1a},
    {"9.2.1", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xd58f311b},
    {"9.2.1", "GRBM_STATUS2", 0x2002, 25, 0xf3138000, 0xb46d4963},
    {"9.2.1", "GRBM_STATUS_SE0", 0x2005, 12, 0xefe00000, 0xd80baf1a},
    {"9.2.1", "GRBM_STATUS_SE1", 0x2006, 12, 0xefe00000, 0xd80baf1a},
    {"9.2.1", "GRBM_STATUS_SE2", 0x200e, 12, 0xefe00000, 0xd80baf1a},
    {"9.2.1", "GRBM_STATUS_SE3", 0x200f, 12, 0xefe00000, 0xd80baf1a},
    {"9.4.2", "GRBM_STATUS", 0x2004, 23, 0xf7ffc000, 0xbfd37ba7},
    {"9.4.2", "GRBM_STATUS2", 0x2002, 24, 0x73138000, 0x4ca9ee94},
    {"9.4.2", "GRBM_STATUS_SE0", 0x2005, 15, 0xefe00038, 0x3656b583},
    {"9.4.2", "GRBM_STATUS_SE1", 0x2006, 15, 0xefe00038, 0x4251661e},
    {"9.4.2", "GRBM_STATUS_SE2", 0x200e, 15, 0xefe00038, 0xa6d24d95},
    {"9.4.2", "GRBM_STATUS_SE3", 0x200f, 15, 0xefe00038, 0xd1abad68},
    {"9.4.3", "GRBM_STATUS", 0x2004, 24, 0xf7ffc000, 0xd58f311b},
    {"9.4.3", "GRBM_STATUS2", 0x2002, 27, 0xf3738000, 0x758651fd},
    {"9.4.3", "GRBM_STATUS_SE0", 0x2005, 12, 0xefe00000, 0xd80baf1a},
    {"9.4.3", "GRBM_STATUS_SE1", 0x2006, 12, 0xefe00000, 0xd80baf1a},
    {"9.4.3", "GRBM_STATUS_SE2", 0x200e, 12, 0xefe00000, 0xd80baf1a},
    {"9.4.3", "GRBM_STATUS_SE3", 0x200f, 12, 0xefe00000, 0xd80baf1a},
    {"10.1", "GRBM_STATUS", 0x2004, 21, 0xf7f1c000, 0x49a74688},
    {"10.1", "GRBM_STATUS2", 0x2002, 27, 0xf3338000, 0x367e5375},
    {"10.1", "GRBM_STATUS3", 0x2007, 15, 0xf001e000, 0xc2cccc68},
    {"10.1", "GRBM_STATUS_SE0", 0x2005, 14, 0xef600038, 0x7414eec0},
    {"10.1", "GRBM_STATUS_SE1", 0x2006, 14, 0xef600038, 0x7414eec0},
    {"10.1", "GRBM_STATUS_SE2", 0x200e, 14, 0xef600038, 0x7414eec0},
    {"10.1", "GRBM_STATUS_SE3", 0x200f, 14, 0xef600038, 0x7414eec0},
    {"10.3", "GRBM_STATUS", 0x2004, 20, 0xf7f1c000, 0x363ac7cc},
    {"10.3", "GRBM_STATUS2", 0x2002, 29, 0xfc338000, 0xf807172e},
    {"10.3", "GRBM_STATUS3", 0x2007, 15, 0xf001e000, 0xc2cccc68},
    {"10.3", "GRBM_STATUS_SE0", 0x2005, 14, 0xef600038, 0x7414eec0},
    {"10.3", "GRBM_STATUS_SE1", 0x2006, 14, 0xef600038, 0x7414eec0},
    {"10.3", "GRBM_STATUS_SE2", 0x200e, 14, 0xef600038, 0x7414eec0},
    {"10.3", "GRBM_STATUS_SE3", 0x200f, 14, 0xef600038, 0x7414eec0},
    {"11.0.0", "GRBM_STATUS", 0x2004, 22, 0xfff1c000, 0x20cc5501},
    {"11.0.0", "GRBM_STATUS2", 0x2002, 22, 0x7c338000, 0xc20c5ec9},
    {"11.0.0", "GRBM_STATUS3", 0x2007, 15, 0xfe01e000, 0xcc466327},
    {"11.0.0", "GRBM_STATUS_SE0", 0x2005, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.0", "GRBM_STATUS_SE1", 0x2006, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.0", "GRBM_STATUS_SE2", 0x200e, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.0", "GRBM_STATUS_SE3", 0x200f, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.0", "GRBM_STATUS_SE4", 0x2010, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.0", "GRBM_STATUS_SE5", 0x2011, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.3", "GRBM_STATUS", 0x2004, 23, 0xfff1c000, 0x3836f67d},
    {"11.0.3", "GRBM_STATUS2", 0x2002, 23, 0xfc338000, 0x4a7c048a},
    {"11.0.3", "GRBM_STATUS3", 0x2007, 15, 0xfe01e000, 0xcc466327},
    {"11.0.3", "GRBM_STATUS_SE0", 0x2005, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.3", "GRBM_STATUS_SE1", 0x2006, 17, 0xef6001f8, 0xd63a3c53},
    {"11.0.3", "GRBM_STATUS_SE2", 0x200e, 17, 0xef6001f8, 0xd63a3c53},
    {"11.5.0", "GRBM_STATUS", 0x2004, 22, 0xfff1c000, 0x20cc5501},
    {"11.5.0", "GRBM_STATUS2", 0x2002, 22, 0xfc338000, 0x1fc25477},
    {"11.5.0", "GRBM_STATUS3", 0x2007, 14, 0xfc01e000, 0xab71afaf},
    {"11.5.0", "GRBM_STATUS_SE0", 0x2005, 16, 0xef6000f8, 0xc7e14946},
    {"12.0.0", "GRBM_STATUS", 0x2004, 21, 0xfff14000, 0xba1e7731},
    {"12.0.0", "GRBM_STATUS2", 0x2002, 19, 0x7c318000, 0x44ef58b5},
    {"12.0.0", "GRBM_STATUS3", 0x2007, 11, 0xcc01c000, 0xef990dbb},
    {"12.0.0", "GRBM_STATUS_SE0", 0x2005, 16, 0xef4000f8, 0xc5da50df},
    {"12.0.0", "GRBM_STATUS_SE1", 0x2006, 16, 0xef4000f8, 0xc5da50df},
    {"12.0.0", "GRBM_STATUS_SE2", 0x200e, 16, 0xef4000f8, 0xc5da50df},
    {"12.0.0", "GRBM_STATUS_SE3", 0x200f, 16, 0xef4000f8, 0xc5da50df},
});

}  // namespace gputrace::test
