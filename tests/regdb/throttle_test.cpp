#include "regdb/throttle.h"

#include <doctest/doctest.h>

#include <string>

using namespace gputrace::regdb;

namespace {

std::string names_of(const std::vector<ThrottleReason>& reasons) {
  std::string names;
  for (const ThrottleReason& reason : reasons) {
    names += (names.empty() ? "" : " ") + reason.name + ":" + std::string(to_string(reason.group));
  }
  return names;
}

}  // namespace

TEST_CASE("the bits of throttle_status are those of the chip's driver") {
  CHECK(names_of(decode_throttle_status(GcVersion{11, 0, 1}, 0x1022)) ==
        "FPPT:power THM_GFX:temperature EDC_GFX:current");
  CHECK(names_of(decode_throttle_status(GcVersion{10, 3, 1}, 1U << 10)) == "TDC_CVIP:current");
  CHECK(names_of(decode_throttle_status(GcVersion{11, 5, 2}, 1U << 10)) ==
        "PROCHOT_CPU:temperature");
  CHECK(names_of(decode_throttle_status(GcVersion{10, 3, 0}, 1U << 13)) == "PPT0:power");
  CHECK(names_of(decode_throttle_status(GcVersion{10, 1, 0}, 1U << 13)) == "TDC_SOC:current");
  CHECK(names_of(decode_throttle_status(GcVersion{9, 4, 2}, 1U << 4)) == "TDC_HBM:current");
}

TEST_CASE("RDNA3 and RDNA4 set TEMP_HOTSPOT in the same place, and PPT0 in others") {
  CHECK(names_of(decode_throttle_status(GcVersion{11, 0, 0}, 0x2)) == "TEMP_HOTSPOT:temperature");
  CHECK(names_of(decode_throttle_status(GcVersion{12, 0, 1}, 0x2)) == "TEMP_HOTSPOT:temperature");
  CHECK(names_of(decode_throttle_status(GcVersion{11, 0, 0}, 1U << 16)) == "PPT0:power");
  CHECK(names_of(decode_throttle_status(GcVersion{12, 0, 1}, 1U << 14)) == "PPT0:power");
}

TEST_CASE("a bit without a name is shown by its number, and so is every bit of an unknown chip") {
  CHECK(names_of(decode_throttle_status(GcVersion{11, 0, 1}, 0x80000001)) ==
        "SPL:power bit 31:other");
  CHECK(names_of(decode_throttle_status(std::nullopt, 0x5)) == "bit 0:other bit 2:other");
  CHECK(names_of(decode_throttle_status(GcVersion{9, 0, 1}, 0x2)) == "bit 1:other");
  CHECK(decode_throttle_status(GcVersion{11, 0, 1}, 0).empty());
}

TEST_CASE("the bits that all drivers share need no version") {
  CHECK(names_of(decode_independent_throttle_status((1ULL << 0) | (1ULL << 23) | (1ULL << 36) |
                                                    (1ULL << 47) | (1ULL << 57))) ==
        "PPT0:power APCC:current TEMP_HOTSPOT:temperature PROCHOT_GFX:temperature FIT:other");
  CHECK(names_of(decode_independent_throttle_status(1ULL << 63)) == "bit 63:other");
}

TEST_CASE("throttle residencies belong to groups too") {
  CHECK(throttle_residency_group("throttle_residency_fppt") == ThrottleGroup::kPower);
  CHECK(throttle_residency_group("throttle_residency_thm_gfx") == ThrottleGroup::kTemperature);
  CHECK(throttle_residency_group("throttle_residency_prochot") == ThrottleGroup::kTemperature);
  CHECK(throttle_residency_group("throttle_status") == ThrottleGroup::kOther);
}
