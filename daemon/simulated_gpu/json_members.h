// Takes members out of a JSON object that may be hostile: every number has limits, and a member
// that nobody asked for is an error.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace gputrace::simulated_gpu {

struct NumberRange {
  double low;
  double high;
};

/// The first thing that is wrong is kept, so that callers read all they want and look once.
class JsonMembers {
 public:
  static constexpr std::size_t kMaxTextBytes = 200;

  /// `where` is put in front of the members' names in messages: "phases[2]"; may be empty.
  JsonMembers(const nlohmann::json& object, std::string where);

  /// Each gives `otherwise` where the member is missing or wrong.
  double number(const char* key, double otherwise, NumberRange range);
  int integer(const char* key, int otherwise, NumberRange range);
  bool boolean(const char* key, bool otherwise);
  std::string text(const char* key, std::string otherwise);
  /// Null where it is missing.
  const nlohmann::json* find(const char* key);

  void complain(std::string_view key, std::string_view what);
  /// Also complains of members that nobody asked for.
  Status finish();

 private:
  const nlohmann::json& object_;
  std::string where_;
  std::set<std::string, std::less<>> known_;
  std::string complaint_;
};

}  // namespace gputrace::simulated_gpu
