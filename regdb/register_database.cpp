#include "regdb/register_database.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "regdb/built_in_files.h"
#include "regdb/overlay_folder.h"

namespace gputrace::regdb {
namespace {

constexpr std::string_view kRadeontopTable = "radeontop";

/// FNV-1a (Fowler, Noll, Vo), 64 bits: names a revision, protects against nothing.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    hash_ = (hash_ ^ 0xffU) * 0x100000001b3U;  // so that ("a", "b") and ("ab", "") differ
  }
  [[nodiscard]] std::string text() const {
    std::string digits;
    for (int shift = 60; shift >= 0; shift -= 4) {
      digits += "0123456789abcdef"[(hash_ >> static_cast<unsigned>(shift)) & 0xfU];
    }
    return digits;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

std::string revision_with(const std::vector<OverlayFile>& overlay) {
  Fingerprint fingerprint;
  for (const auto& [name, text] : embedded_reg_files()) {
    fingerprint.add(name);
    fingerprint.add(text);
  }
  for (const OverlayFile& file : overlay) {
    fingerprint.add(file.name);
    fingerprint.add(file.text);
  }
  return fingerprint.text();
}

/// A misspelt name must not be ignored in silence.
Status check_described_fields_exist(const FieldDescriptions& descriptions,
                                    const std::vector<RegisterMap>& maps) {
  for (const auto& [name, description] : descriptions) {
    const bool used = std::any_of(maps.begin(), maps.end(), [&](const RegisterMap& map) {
      return std::any_of(map.registers.begin(), map.registers.end(),
                         [&](const Register& reg) { return reg.find_field(name) != nullptr; });
    });
    if (!used) {
      return fail_at(description.place, "no register has a field '" + name + "'");
    }
  }
  return {};
}

Status check_table_statement(const TableStatement& stated) {
  const auto chain = built_in_table_chain(stated.name);
  if (!chain) {
    return fail_at(stated.place, chain.error().message + ", and an overlay cannot add one");
  }
  const TableStatement& built_in = chain->back();
  if ((!stated.base.empty() && stated.base != built_in.base) ||
      (!stated.readable.empty() && stated.readable != built_in.readable)) {
    return fail_at(stated.place, "'base' and 'readable' of a table cannot be changed");
  }
  return {};
}

}  // namespace

RegisterDatabase RegisterDatabase::built_in() {
  RegisterDatabase database;
  database.versions_ = parse_built_in("versions.reg").versions;
  for (const VersionRule& rule : database.versions_) {
    database.supported_versions_.push_back({rule.pattern, rule.table});
  }
  database.revision_ = revision_with({});
  return database;
}

Result<RegisterDatabase> RegisterDatabase::with_overlay(const std::filesystem::path& folder) {
  auto files = read_overlay_folder(folder);
  if (!files) {
    return tl::unexpected(files.error());
  }
  RegisterDatabase database = built_in();
  database.revision_ = revision_with(*files);
  for (OverlayFile& file : *files) {
    if (const Status status = check_overlay_statements(file.statements); !status) {
      return tl::unexpected(status.error());
    }
    database.overlay_.push_back(std::move(file.statements));
  }
  if (const Status status = database.check_overlay(); !status) {
    return tl::unexpected(status.error());
  }
  return database;
}

Status RegisterDatabase::check_overlay() const {
  std::vector<RegisterMap> maps;
  for (const std::string& table : tables()) {
    auto map = map_for_table(table);
    if (!map) {
      return tl::unexpected(map.error());
    }
    maps.push_back(*std::move(map));
  }
  for (const RegFile& file : overlay_) {
    if (const Status status = check_described_fields_exist(file.descriptions, maps); !status) {
      return status;
    }
    for (const TableStatement& table : file.tables) {
      if (const Status status = check_table_statement(table); !status) {
        return status;
      }
      const std::vector<RegisterMap> own{*map_for_table(table.name)};
      if (const Status status = check_described_fields_exist(table.descriptions, own); !status) {
        return status;
      }
    }
  }
  return {};
}

std::vector<std::string> RegisterDatabase::tables() const {
  std::vector<std::string> names;
  for (const VersionRule& rule : versions_) {
    if (std::find(names.begin(), names.end(), rule.table) == names.end()) {
      names.push_back(rule.table);
    }
  }
  names.emplace_back(kRadeontopTable);
  return names;
}

Result<RegisterMap> RegisterDatabase::map_for(GcVersion version) const {
  for (const VersionRule& rule : versions_) {
    if (rule.matches(version)) {
      auto map = map_for_table(rule.table);
      if (map) {
        map->gc = version;
      }
      return map;
    }
  }
  std::string known;
  for (const VersionRule& rule : versions_) {
    known += (known.empty() ? "" : ", ") + rule.pattern;
  }
  return fail(ErrorCode::kUnsupported,
              "the status registers of GC " + to_string(version) +
                  " are not known, and those of another version would mislead; known: " + known);
}

Result<RegisterMap> RegisterDatabase::map_for_table(std::string_view table) const {
  const auto chain = built_in_table_chain(table);
  if (!chain) {
    return tl::unexpected(chain.error());
  }
  std::vector<MergedRegister> registers;
  const RegFile units = parse_built_in("units.reg");
  std::vector<const FieldDescriptions*> layers{&units.descriptions};
  for (const TableStatement& built_in : *chain) {
    if (const Status status = add_registers(built_in, registers); !status) {
      return tl::unexpected(status.error());
    }
    layers.insert(layers.begin(), &built_in.descriptions);
  }
  if (const Status status = apply_overlay(*chain, registers, layers); !status) {
    return tl::unexpected(status.error());
  }

  RegisterMap map{.table = std::string(table), .gc = std::nullopt, .registers = {}};
  const std::vector<std::string> readable = readable_registers(*chain);
  for (const MergedRegister& merged : registers) {
    Register& reg = map.registers.emplace_back();
    reg.name = merged.name;
    reg.dword_offset = merged.offset;
    reg.unprivileged = std::find(readable.begin(), readable.end(), reg.name) != readable.end();
    for (const FieldStatement& field : merged.fields) {
      auto text = describe(field, layers);
      if (!text) {
        return tl::unexpected(text.error());
      }
      reg.fields.push_back({field.name, field.bits.shift, field.bits.width, text->kind, text->group,
                            std::move(text->meaning), std::move(text->suggests)});
    }
  }
  return map;
}

Status RegisterDatabase::apply_overlay(const std::vector<TableStatement>& chain,
                                       std::vector<MergedRegister>& registers,
                                       std::vector<const FieldDescriptions*>& layers) const {
  for (const RegFile& file : overlay_) {
    layers.insert(layers.begin(), &file.descriptions);
  }
  for (const TableStatement& built_in : chain) {
    for (const RegFile& file : overlay_) {
      for (const TableStatement& table : file.tables) {
        if (table.name != built_in.name) {
          continue;
        }
        if (const Status status = overlay_registers(table, registers); !status) {
          return status;
        }
        layers.insert(layers.begin(), &table.descriptions);
      }
    }
  }
  return {};
}

const std::vector<RegisterDatabase::SupportedVersion>& RegisterDatabase::supported_versions()
    const {
  return supported_versions_;
}

const std::string& RegisterDatabase::revision() const {
  return revision_;
}

Result<GcVersion> RegisterDatabase::gc_from_family(std::uint32_t family,
                                                   std::uint32_t external_rev) const {
  const RegFile file = parse_built_in("families.reg");
  for (const FamilyRule& rule : file.families) {
    if (rule.family == family && external_rev >= rule.first_revision &&
        external_rev <= rule.last_revision) {
      return rule.gc;
    }
  }
  return fail(ErrorCode::kUnsupported,
              "family " + std::to_string(family) + " with external revision " +
                  std::to_string(external_rev) +
                  " (AMDGPU_INFO) is no GPU that this program knows without IP discovery");
}

}  // namespace gputrace::regdb
