// Look-ups over the register tables: the built-in ones (regdb/gc/*.reg, embedded at build time),
// optionally with names and meanings replaced from a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/gc_version.h"
#include "regdb/reg_file.h"
#include "regdb/register_map.h"
#include "regdb/table_overlay.h"

namespace gputrace::regdb {

class RegisterDatabase {
 public:
  /// The embedded tables. The only source of addresses that may be read.
  [[nodiscard]] static RegisterDatabase built_in();

  /// Built-in tables with the fields (names, kinds, groups, meanings) that the *.reg files of
  /// `folder` state put in their place. For decode, report and import only: whoever reads
  /// registers uses built_in().
  [[nodiscard]] static Result<RegisterDatabase> with_overlay(const std::filesystem::path& folder);

  /// The map of a version, aliases resolved. kUnsupported names the version (9.4.4, 9.5.0, ...)
  /// and what is known.
  [[nodiscard]] Result<RegisterMap> map_for(GcVersion version) const;

  /// A table by its own name: "11.0.0", or "radeontop": one register "radeontop" whose fields are
  /// that tool's columns (R600 names: gpu ee vgt ta sx sh spi sc pa db cb ...), for imports.
  [[nodiscard]] Result<RegisterMap> map_for_table(std::string_view table) const;

  struct SupportedVersion {
    std::string version;  ///< "10.3.x" or "11.0.1"
    std::string table;
  };
  [[nodiscard]] const std::vector<SupportedVersion>& supported_versions() const;

  /// Identifies the meanings in use; stored in each session. Changes when any table changes.
  [[nodiscard]] const std::string& revision() const;

  /// For GPUs without IP discovery: AMDGPU_INFO family (drm/amdgpu_drm.h) and external_rev.
  [[nodiscard]] Result<GcVersion> gc_from_family(std::uint32_t family,
                                                 std::uint32_t external_rev) const;

  /// What a column of a radeontop dump shows on a given GPU.
  struct ColumnMatch {
    std::string column;
    std::string register_name;  ///< "GRBM_STATUS"; empty when nothing there means the same
    std::string field;          ///< "TA_BUSY"; likewise
    std::string reason;         ///< for a warning, when empty above: what the column is there
  };
  /// One answer for each of `columns`, which must be all the busy columns of the file: for cards
  /// that radeontop does not know it prints more of them, and other bits under the same name.
  [[nodiscard]] Result<std::vector<ColumnMatch>> match_radeontop_columns(
      GcVersion version, std::span<const std::string> columns) const;

 private:
  RegisterDatabase() = default;

  [[nodiscard]] std::vector<std::string> tables() const;
  [[nodiscard]] Status check_overlay() const;
  [[nodiscard]] Status apply_overlay(const std::vector<TableStatement>& chain,
                                     std::vector<MergedRegister>& registers,
                                     std::vector<const FieldDescriptions*>& layers) const;

  std::vector<VersionRule> versions_;
  std::vector<SupportedVersion> supported_versions_;
  std::vector<RegFile> overlay_;  ///< in order of file name; a later one wins
  std::string revision_;
};

}  // namespace gputrace::regdb
