// One object of JSON, member by member, as a library would write it whole: the document of a day is
// tens of megabytes, and several times that as a tree.
#pragma once

#include <string>
#include <string_view>

#include "cli/report/render_json.h"

namespace gputrace::report {

class JsonObjectWriter {
 public:
  /// `write` must outlive it.
  JsonObjectWriter(JsonLayout layout, const JsonSink& write)
      : indented_(layout == JsonLayout::kIndented), write_(write) {}

  /// `json`: a value in the same layout, as if it stood alone. Keys have nothing to escape.
  void member(std::string_view key, std::string_view json);
  /// An array of which one element at a time is in memory, `json_of` each as for member().
  template <class Elements, class ToJson>
  void array(std::string_view key, const Elements& elements, const ToJson& json_of) {
    begin(key);
    const char* before = "[";
    for (const auto& element : elements) {
      put(before + line(2) + at_depth(json_of(element), 2));
      before = ",";
    }
    put(elements.empty() ? "[]" : line(1) + "]");
  }
  /// After the last member, of which there is at least one. The first error of the sink.
  [[nodiscard]] Status finish();

 private:
  void begin(std::string_view key);
  /// What comes before something on a line of its own.
  [[nodiscard]] std::string line(std::size_t depth) const;
  [[nodiscard]] std::string at_depth(std::string_view json, std::size_t depth) const;
  void put(std::string_view text);

  bool indented_;
  const JsonSink& write_;
  std::string before_member_ = "{";
  Status status_;
};

}  // namespace gputrace::report
