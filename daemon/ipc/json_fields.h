// Strict access to the fields of a message: each is present, of its type and inside its limits, and
// there is no other. Private to daemon/ipc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace gputrace::ipc {

/// JSON holds Unicode, but paths and words of a command line are bytes: each byte travels as the
/// code point of the same number, and comes back exactly.
[[nodiscard]] std::string bytes_to_json(std::string_view bytes);
/// Absent when the text has a code point above 255.
[[nodiscard]] std::optional<std::string> bytes_from_json(std::string_view text);

/// Reads fields in any order and remembers the first fault; values after a fault mean nothing.
class JsonFields {
 public:
  explicit JsonFields(const nlohmann::json& object) : object_(object) {}

  [[nodiscard]] std::string text(const char* name, std::size_t max_bytes);
  [[nodiscard]] std::optional<std::string> optional_text(const char* name, std::size_t max_bytes);
  [[nodiscard]] std::vector<std::string> texts(const char* name, std::size_t max_count,
                                               std::size_t max_bytes_each,
                                               std::size_t max_bytes_all);
  [[nodiscard]] bool is_null(const char* name);
  [[nodiscard]] bool boolean(const char* name);
  [[nodiscard]] double number(const char* name, double min, double max);
  [[nodiscard]] std::optional<double> optional_number(const char* name, double min, double max);
  [[nodiscard]] std::int64_t integer(const char* name, std::int64_t min, std::int64_t max);
  [[nodiscard]] std::optional<int> optional_integer(const char* name, int min, int max);
  [[nodiscard]] std::uint64_t count(const char* name);    ///< 0 to 2^63 - 1
  [[nodiscard]] std::uint32_t count32(const char* name);  ///< 0 to 2^32 - 1
  [[nodiscard]] std::optional<std::uint64_t> optional_count(const char* name);
  /// An object of counts whose names all fit.
  [[nodiscard]] std::map<std::string, std::uint64_t> named_counts(
      const char* name, std::size_t max_count, bool (*is_name)(std::string_view));
  /// Exactly as many numbers as `out` has room for.
  void counts(const char* name, std::span<std::uint32_t> out);
  /// A list of objects; each is read by `read` and checked like this one.
  void objects(const char* name, std::size_t max_count,
               const std::function<void(JsonFields&)>& read);

  /// What the types cannot say: remembered like any other fault.
  void fault(std::string_view name, std::string_view what);
  [[nodiscard]] bool is_sound() const { return !fault_; }  ///< no fault so far

  /// The first fault, or the field that nobody asked for.
  [[nodiscard]] Status finish() const;

 private:
  const nlohmann::json* find(const char* name);
  std::string text_of(const char* name, const nlohmann::json& value, std::size_t max_bytes);

  const nlohmann::json& object_;
  std::set<std::string, std::less<>> asked_{"type"};
  std::optional<std::string> fault_;
};

}  // namespace gputrace::ipc
