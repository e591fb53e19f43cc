// Look-ups over the register tables: the built-in ones (regdb/gc/*.reg, embedded at build time),
// optionally with names and meanings replaced from a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"
#include "regdb/gc_version.h"
#include "regdb/register_map.h"

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
  /// that tool's columns (R600 names: gpu ee vgt ta sx sh spi scr pa db cb ...), for imports.
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

 private:
  RegisterDatabase() = default;
  // Members are the implementation's choice.
};

}  // namespace gputrace::regdb
