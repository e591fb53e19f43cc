#include "regdb/register_database.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace gputrace::regdb {

/// Defined by the build (gputrace_embed): file name and text of every built-in *.reg file.
std::span<const std::pair<std::string_view, std::string_view>> embedded_reg_files();

namespace {

constexpr std::string_view kRadeontopTable = "radeontop";
constexpr std::uintmax_t kMaxOverlayFile = 1U << 20U;

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

std::string revision_of_built_in(Fingerprint& fingerprint) {
  for (const auto& [name, text] : embedded_reg_files()) {
    fingerprint.add(name);
    fingerprint.add(text);
  }
  return fingerprint.text();
}

Result<RegFile> parse_embedded(std::string_view name) {
  for (const auto& [file, text] : embedded_reg_files()) {
    if (file == name) {
      return parse_reg_file(file, text);
    }
  }
  return fail(ErrorCode::kNotFound, "no built-in register file '" + std::string(name) + "'");
}

/// The built-in tables are part of the program: a fault in them is ours.
RegFile parse_own(std::string_view name) {
  Result<RegFile> file = parse_embedded(name);
  GPUTRACE_CHECK(file.has_value());
  return *std::move(file);
}

/// The table and those it is based on, the base first.
Result<std::vector<TableStatement>> table_chain(std::string_view table) {
  std::vector<TableStatement> chain;
  for (std::string name(table); !name.empty(); name = chain.front().base) {
    const Result<RegFile> file = parse_embedded(name + ".reg");
    const TableStatement* found = nullptr;
    if (file) {
      for (const TableStatement& statement : file->tables) {
        found = statement.name == name ? &statement : found;
      }
    }
    if (found == nullptr) {
      return file || file.error().code == ErrorCode::kNotFound
                 ? fail(ErrorCode::kNotFound, "there is no register table '" + name + "'")
                 : tl::unexpected(file.error());
    }
    chain.insert(chain.begin(), *found);
  }
  return chain;
}

std::vector<std::string> readable_registers(const std::vector<TableStatement>& chain) {
  std::string list_name;
  for (const TableStatement& table : chain) {
    list_name = table.readable.empty() ? list_name : table.readable;
  }
  for (const ReadableList& list : parse_own("readable.reg").readable_lists) {
    if (list.name == list_name) {
      return list.registers;
    }
  }
  return {};
}

Result<std::string> read_overlay_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kMaxOverlayFile && !error) {
    return fail(ErrorCode::kInvalidArgument, path.string() + " is too large for a register file");
  }
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    return fail(ErrorCode::kIo, "cannot read the register file " + path.string());
  }
  return text;
}

Result<std::vector<std::filesystem::path>> list_overlay_files(const std::filesystem::path& folder) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".reg") {
      paths.push_back(entry->path());
    }
  }
  if (error) {
    return fail(ErrorCode::kNotFound,
                "cannot read the register files in " + folder.string() + ": " + error.message());
  }
  if (paths.empty()) {
    return fail(ErrorCode::kNotFound, "there is no *.reg file in " + folder.string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
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
  const auto chain = table_chain(stated.name);
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

std::string bits_in_words(BitRange bits) {
  const std::string first = std::to_string(bits.shift);
  return bits.width == 1 ? "bit " + first
                         : "bits " + first + " to " + std::to_string(bits.shift + bits.width - 1);
}

RegisterDatabase::ColumnMatch match_column(const ColumnRule& rule, const RegisterMap& map) {
  const Register* const reg = map.find(rule.register_name);
  if (reg == nullptr) {
    return {rule.column, {}, {}, "comes from " + rule.register_name + ", not from GRBM_STATUS"};
  }
  const RegisterField* const field = reg->find_field(rule.field);
  if (field != nullptr && field->mask() == rule.bits.mask()) {
    return {rule.column, reg->name, field->name, {}};
  }
  std::string there;
  for (const RegisterField& other : reg->fields) {
    if ((other.mask() & rule.bits.mask()) != 0) {
      there += (there.empty() ? "" : " and ") + other.name;
    }
  }
  return {rule.column,
          {},
          {},
          "is " + bits_in_words(rule.bits) + " of " + reg->name + ", which " +
              (there.empty() ? "has no field there" : "holds " + there + " there")};
}

}  // namespace

RegisterDatabase RegisterDatabase::built_in() {
  RegisterDatabase database;
  database.versions_ = parse_own("versions.reg").versions;
  for (const VersionRule& rule : database.versions_) {
    database.supported_versions_.push_back({rule.pattern, rule.table});
  }
  Fingerprint fingerprint;
  database.revision_ = revision_of_built_in(fingerprint);
  return database;
}

Result<RegisterDatabase> RegisterDatabase::with_overlay(const std::filesystem::path& folder) {
  const auto paths = list_overlay_files(folder);
  if (!paths) {
    return tl::unexpected(paths.error());
  }
  RegisterDatabase database = built_in();
  Fingerprint fingerprint;
  revision_of_built_in(fingerprint);
  for (const std::filesystem::path& path : *paths) {
    const auto text = read_overlay_file(path);
    if (!text) {
      return tl::unexpected(text.error());
    }
    fingerprint.add(path.filename().string());
    fingerprint.add(*text);
    auto file = parse_reg_file(path.string(), *text);
    if (!file) {
      return tl::unexpected(file.error());
    }
    if (const Status status = check_overlay_statements(*file); !status) {
      return tl::unexpected(status.error());
    }
    database.overlay_.push_back(*std::move(file));
  }
  database.revision_ = fingerprint.text();
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
  const auto chain = table_chain(table);
  if (!chain) {
    return tl::unexpected(chain.error());
  }
  std::vector<MergedRegister> registers;
  const RegFile units = parse_own("units.reg");
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
  for (const FamilyRule& rule : parse_own("families.reg").families) {
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

Result<std::vector<RegisterDatabase::ColumnMatch>> RegisterDatabase::match_radeontop_columns(
    GcVersion version, std::span<const std::string> columns) const {
  const auto map = map_for(version);
  if (!map) {
    return tl::unexpected(map.error());
  }
  const auto present = [&](const std::string& column) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  const std::vector<ColumnRule> rules = parse_own("radeontop.reg").columns;
  std::vector<ColumnMatch> matches;
  for (const std::string& column : columns) {
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const ColumnRule& candidate) {
      return candidate.column == column && (candidate.with.empty() || present(candidate.with)) &&
             (candidate.without.empty() || !present(candidate.without));
    });
    if (rule == rules.end()) {
      matches.push_back({column, {}, {}, "is not a column that radeontop has"});
    } else {
      matches.push_back(match_column(*rule, *map));
    }
  }
  return matches;
}

}  // namespace gputrace::regdb
