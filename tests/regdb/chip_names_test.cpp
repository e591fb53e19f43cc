#include "regdb/chip_names.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using gputrace::regdb::chip_name;
using gputrace::regdb::chips_text;

namespace {

/// "1,2,3" gives {"1", "2", "3"}.
std::vector<std::string> elements_of(const std::string& list) {
  std::vector<std::string> elements;
  std::istringstream stream(list);
  for (std::string element; std::getline(stream, element, ',');) {
    elements.push_back(element);
  }
  return elements;
}

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

TEST_CASE("a GPU is named by its device and revision") {
  CHECK(chip_name(0x15bf, 0xc1) == "AMD Radeon 780M Graphics");
  CHECK(chip_name(0x15bf, 0xc8) == "AMD Radeon 760M Graphics");
  CHECK(chip_name(0x15bf, 0x07) == "AMD Radeon 740M Graphics");  // not 0x70
  CHECK(chip_name(0x744c, 0xc8) == "AMD Radeon RX 7900 XTX");
  CHECK(chip_name(0x163f, 0xe1) == "AMD Radeon(TM) Navi Graphics Custom Made for Magic Leap");
}

TEST_CASE("a GPU of which only the chip is known is called after the chip") {
  CHECK(chip_name(0x15bf, 0xff) == "AMD GPU (Phoenix)");
  CHECK(chip_name(0x15bf, {}) == "AMD GPU (Phoenix)");
  CHECK(chip_name(0x163f, 0xae) == "AMD GPU (Van Gogh)");
  CHECK(chip_name(0x98e4, 0xeb) == "AMD GPU (Stoney)");  // sources name two products
}

TEST_CASE("a GPU that is in no list has no name") {
  CHECK_FALSE(chip_name(0xffff, 0xc1));
  CHECK_FALSE(chip_name(0x0000, 0x00));
  CHECK_FALSE(chip_name(0xbf15, {}));
}

TEST_CASE("chips.txt names each device and revision once") {
  std::istringstream text{std::string(chips_text())};
  std::set<std::string> devices;
  std::set<std::pair<std::string, std::string>> products;
  for (std::string line; std::getline(text, line);) {
    CAPTURE(line);
    CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    if (line.empty() || line.front() == '#') {
      continue;
    }
    std::istringstream words(line);
    std::string statement;
    std::string device_list;
    words >> statement >> device_list;
    const std::vector<std::string> stated = elements_of(device_list);
    for (const std::string& device : stated) {
      CHECK(is_hex(device, 4));
    }
    if (statement == "chip") {
      for (const std::string& device : stated) {
        CHECK(devices.insert(device).second);
      }
    } else {
      REQUIRE(statement == "product");
      REQUIRE(stated.size() == 1);
      std::string revisions;
      words >> revisions;
      for (const std::string& revision : elements_of(revisions)) {
        CHECK(is_hex(revision, 2));
        CHECK(products.emplace(device_list, revision).second);
      }
    }
    std::string name;
    CHECK(std::getline(words >> std::ws, name));
    CHECK(name.size() >= 4);
  }
  CHECK(devices.size() > 300);
  CHECK(products.size() > 700);
}
