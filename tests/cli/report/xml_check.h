// Whether a document is well-formed XML, as far as our renderers go: elements, attributes in double
// quotes, entities; no DOCTYPE, no CDATA.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gputrace::test {

/// What is wrong, or nothing.
inline std::string xml_problem(std::string_view xml) {
  std::vector<std::string> open;
  bool any = false;
  while (!xml.empty()) {
    const std::size_t at = xml.find_first_of("<&");
    if (at == std::string_view::npos) {
      break;
    }
    xml.remove_prefix(at);
    if (xml.front() == '&') {
      const std::string_view entity = xml.substr(0, xml.find(';'));
      if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot") {
        return "a bare &: " + std::string(xml.substr(0, 20));
      }
      xml.remove_prefix(entity.size());
      continue;
    }
    // The end of the tag is outside of quotes.
    std::size_t end = 1;
    bool quoted = false;
    while (end < xml.size() && (quoted || xml[end] != '>')) {
      quoted = quoted != (xml[end] == '"');
      if (xml[end] == '<') {
        return "< in a tag: " + std::string(xml.substr(0, 40));
      }
      ++end;
    }
    if (end == xml.size()) {
      return "a tag without end: " + std::string(xml.substr(0, 40));
    }
    std::string_view tag = xml.substr(1, end - 1);
    xml.remove_prefix(end + 1);
    const std::string name(tag.substr(0, tag.find_first_of(" \n/", 1)));
    if (tag.starts_with('/')) {
      if (open.empty() || "/" + open.back() != tag) {
        return "an end without its beginning: " + std::string(tag);
      }
      open.pop_back();
    } else if (!tag.ends_with('/')) {
      if (open.empty() && any) {
        return "a second root: " + name;
      }
      open.push_back(name);
    }
    any = true;
  }
  return !any ? "no element" : open.empty() ? "" : "never ended: " + open.back();
}

}  // namespace gputrace::test
