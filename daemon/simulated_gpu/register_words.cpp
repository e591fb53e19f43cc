#include "daemon/simulated_gpu/register_words.h"

#include <utility>

namespace gputrace::simulated_gpu {

namespace {

/// The names of all generations. Older parts have VGT, IA and WD where GE is now, and one bit for
/// what became TCP and GL2; EA_LINK is taken as EA and ANY_ACTIVE as GUI_ACTIVE [A].
constexpr std::pair<std::string_view, Unit> kBusyFields[] = {
    {"CPF_BUSY", Unit::kCpf},      {"CPC_BUSY", Unit::kCpc},      {"CPG_BUSY", Unit::kCpg},
    {"GE_BUSY", Unit::kGe},        {"GE_BUSY_NO_DMA", Unit::kGe}, {"VGT_BUSY", Unit::kGe},
    {"IA_BUSY", Unit::kGe},        {"IA_BUSY_NO_DMA", Unit::kGe}, {"WD_BUSY", Unit::kGe},
    {"WD_BUSY_NO_DMA", Unit::kGe}, {"PA_BUSY", Unit::kPa},        {"SC_BUSY", Unit::kSc},
    {"SPI_BUSY", Unit::kSpi},      {"TA_BUSY", Unit::kTa},        {"TCP_BUSY", Unit::kTcp},
    {"UTCL1_BUSY", Unit::kUtcl1},  {"GL1CC_BUSY", Unit::kGl1},    {"GL2CC_BUSY", Unit::kGl2},
    {"TC_BUSY", Unit::kGl2},       {"EA_BUSY", Unit::kEa},        {"EA_LINK_BUSY", Unit::kEa},
    {"UTCL2_BUSY", Unit::kUtcl2},  {"RMI_BUSY", Unit::kRmi},      {"DB_BUSY", Unit::kDb},
    {"CB_BUSY", Unit::kCb},        {"SX_BUSY", Unit::kSx},        {"BCI_BUSY", Unit::kBci},
    {"PC_BUSY", Unit::kPc},        {"PH_BUSY", Unit::kPh},        {"CH_BUSY", Unit::kCh},
    {"CP_BUSY", Unit::kCp},        {"GUI_ACTIVE", Unit::kGui},    {"ANY_ACTIVE", Unit::kGui},
};

/// What an idle GPU shows: 8 free entries in the command FIFO and clean caches (0x00003028 in
/// GRBM_STATUS from GFX6 to GFX10, 0x00000008 in GRBM_STATUS2, in public kernel logs).
constexpr std::uint32_t kFreeCommandEntries = 8;
/// Bit 5 of GRBM_STATUS reads as 1 in all of those logs, whether the generation names it or not:
/// the request of the read itself.
constexpr std::uint32_t kReadRequest = 1U << 5U;

std::uint32_t idle_bits(const regdb::RegisterField& field) {
  if (field.kind == regdb::FieldKind::kClean) {
    return field.mask();
  }
  const std::string_view name = field.name;
  if (name == "ME0PIPE0_CMDFIFO_AVAIL" || name == "ME0PIPE1_CMDFIFO_AVAIL") {
    return (kFreeCommandEntries << field.shift) & field.mask();
  }
  return 0;
}

/// The unit whose busyness flips this field against the idle word.
std::optional<Unit> toggling_unit(const regdb::RegisterField& field) {
  if (field.kind == regdb::FieldKind::kClean) {
    // A cache is not clean while its unit works.
    if (field.name == "DB_CLEAN") {
      return Unit::kDb;
    }
    return field.name == "CB_CLEAN" ? std::optional(Unit::kCb) : std::nullopt;
  }
  return field.kind == regdb::FieldKind::kBusy ? unit_of_field(field.name) : std::nullopt;
}

}  // namespace

std::optional<Unit> unit_of_field(std::string_view field_name) {
  for (const auto& [name, unit] : kBusyFields) {
    if (name == field_name) {
      return unit;
    }
  }
  return std::nullopt;
}

RegisterWords::RegisterWords(const regdb::Register& reg) {
  std::array<std::uint32_t, kUnitCount> toggled_by_unit{};
  for (const regdb::RegisterField& field : reg.fields) {
    idle_word_ |= idle_bits(field);
    if (const auto unit = toggling_unit(field)) {
      toggled_by_unit[index_of(*unit)] |= field.mask();
    }
  }
  if (reg.name == "GRBM_STATUS") {
    idle_word_ |= kReadRequest;
  }
  for (std::size_t byte = 0; byte < toggles_.size(); ++byte) {
    for (std::size_t state = 0; state < toggles_[byte].size(); ++state) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((state >> bit & 1U) != 0) {
          toggles_[byte][state] ^= toggled_by_unit[byte * 8 + bit];
        }
      }
    }
  }
}

}  // namespace gputrace::simulated_gpu
