#include "cli/commands/query_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/report/terminal_text.h"

namespace gputrace::commands {
namespace {

using store::BlobSize;
using store::QueryValue;

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

// Rows are kept until their widths are known, but not without end: megabytes are no table to look
// at, and what follows them is printed with the widths so far.
constexpr std::size_t kAlignedBytes = 8 << 20;

/// Aligned columns, numbers to the right.
class TextPrinter final : public QueryPrinter {
 public:
  explicit TextPrinter(std::FILE* out) : out_(out) {}

  void columns(std::span<const std::string> names) override {
    std::vector<Cell> header;
    for (const std::string& name : names) {
      header.push_back({report::escape_for_terminal(name, false), false});
    }
    columns_.resize(names.size());
    keep(std::move(header));
  }

  void row(std::span<const QueryValue> values) override {
    std::vector<Cell> cells;
    cells.reserve(values.size());
    for (const QueryValue& value : values) {
      cells.push_back(cell_of(value));
    }
    ++rows_;
    keep(std::move(cells));
  }

  void end() override {
    print_kept();
    fmt::print(out_, "({} row{})\n", rows_, rows_ == 1 ? "" : "s");
  }

 private:
  struct Cell {
    std::string text;
    bool number = false;
  };
  struct Column {
    std::size_t width = 0;
    bool numeric = false;
  };

  static Cell cell_of(const QueryValue& value) {
    return std::visit(
        Overloaded{
            [](std::monostate) { return Cell{"NULL", false}; },
            [](std::int64_t number) { return Cell{fmt::format("{}", number), true}; },
            [](double number) { return Cell{fmt::format("{:.6g}", number), true}; },
            [](const std::string& text) {
              return Cell{report::escape_for_terminal(text, false), false};
            },
            [](BlobSize blob) { return Cell{fmt::format("({} bytes)", blob.bytes), false}; }},
        value);
  }

  void keep(std::vector<Cell> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      columns_[i].width = std::max(columns_[i].width, report::display_width(cells[i].text));
      columns_[i].numeric = columns_[i].numeric || cells[i].number;
      kept_bytes_ += sizeof(Cell) + cells[i].text.size();
    }
    kept_.push_back(std::move(cells));
    if (kept_bytes_ > kAlignedBytes) {
      print_kept();
    }
  }

  void print_kept() {
    for (const std::vector<Cell>& cells : kept_) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string gap(columns_[i].width - report::display_width(cells[i].text), ' ');
        line += i > 0 ? "  " : "";
        line += columns_[i].numeric ? gap + cells[i].text : cells[i].text + gap;
      }
      line.resize(line.find_last_not_of(' ') + 1);
      fmt::print(out_, "{}\n", line);
    }
    kept_.clear();
    kept_bytes_ = 0;
  }

  std::FILE* out_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> kept_;
  std::size_t kept_bytes_ = 0;
  std::size_t rows_ = 0;
};

/// RFC 4180: fields with a comma, a quote or a line break are quoted. NULL is an empty field.
class CsvPrinter final : public QueryPrinter {
 public:
  explicit CsvPrinter(std::FILE* out) : out_(out) {}

  void columns(std::span<const std::string> names) override {
    std::vector<std::string> fields;
    for (const std::string& name : names) {
      fields.push_back(quoted(name));
    }
    print(fields);
  }

  void row(std::span<const QueryValue> values) override {
    std::vector<std::string> fields;
    fields.reserve(values.size());
    for (const QueryValue& value : values) {
      fields.push_back(std::visit(
          Overloaded{[](std::monostate) { return std::string(); },
                     [](std::int64_t number) { return fmt::format("{}", number); },
                     [](double number) { return fmt::format("{}", number); },
                     [](const std::string& text) { return quoted(text); },
                     [](BlobSize blob) { return fmt::format("({} bytes)", blob.bytes); }},
          value));
    }
    print(fields);
  }

  void end() override {}

 private:
  static std::string quoted(const std::string& text) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) {
      return text;
    }
    std::string field = "\"";
    for (const char c : text) {
      field += c == '"' ? "\"\"" : std::string(1, c);
    }
    return field + '"';
  }

  void print(const std::vector<std::string>& fields) {
    std::string line;
    for (const std::string& field : fields) {
      line += (&field == &fields.front() ? "" : ",") + field;
    }
    fmt::print(out_, "{}\r\n", line);
  }

  std::FILE* out_;
};

/// One array of objects, a row a line. A second column of one name is "name:2".
class JsonPrinter final : public QueryPrinter {
 public:
  explicit JsonPrinter(std::FILE* out) : out_(out) {}

  void columns(std::span<const std::string> names) override {
    for (const std::string& name : names) {
      std::string key = name;
      for (int copy = 2; std::find(names_.begin(), names_.end(), key) != names_.end(); ++copy) {
        key = fmt::format("{}:{}", name, copy);
      }
      names_.push_back(std::move(key));
    }
    fmt::print(out_, "[");
  }

  void row(std::span<const QueryValue> values) override {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
      object[names_[i]] = std::visit(
          Overloaded{
              [](std::monostate) { return nlohmann::ordered_json(); },
              [](double number) {
                return std::isfinite(number) ? nlohmann::ordered_json(number)
                                             : nlohmann::ordered_json();
              },
              [](BlobSize blob) { return nlohmann::ordered_json{{"blob_bytes", blob.bytes}}; },
              [](const auto& other) { return nlohmann::ordered_json(other); }},
          values[i]);
    }
    // Text that is no UTF-8 gets replacement characters: dump() would throw.
    fmt::print(out_, "{}\n  {}", first_ ? "" : ",",
               object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    first_ = false;
  }

  void end() override { fmt::print(out_, "{}]\n", first_ ? "" : "\n"); }

 private:
  std::FILE* out_;
  std::vector<std::string> names_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<QueryPrinter> make_query_printer(QueryFormat format, std::FILE* out) {
  switch (format) {
    case QueryFormat::kCsv:
      return std::make_unique<CsvPrinter>(out);
    case QueryFormat::kJson:
      return std::make_unique<JsonPrinter>(out);
    case QueryFormat::kText:
      break;
  }
  return std::make_unique<TextPrinter>(out);
}

}  // namespace gputrace::commands
