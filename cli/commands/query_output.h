// Prints the rows of a query as aligned text, CSV or JSON.
#pragma once

#include <cstdio>
#include <memory>

#include "daemon/store/query.h"

namespace gputrace::commands {

enum class QueryFormat { kText, kCsv, kJson };

class QueryPrinter {
 public:
  QueryPrinter() = default;
  QueryPrinter(const QueryPrinter&) = delete;
  QueryPrinter& operator=(const QueryPrinter&) = delete;
  virtual ~QueryPrinter() = default;
  virtual void columns(std::span<const std::string> names) = 0;
  virtual void row(std::span<const store::QueryValue> values) = 0;
  virtual void end() = 0;
};

[[nodiscard]] std::unique_ptr<QueryPrinter> make_query_printer(QueryFormat format, std::FILE* out);

}  // namespace gputrace::commands
