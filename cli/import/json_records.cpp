#include "cli/import/json_records.h"

namespace gputrace::import {

namespace {
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
}  // namespace

Result<bool> JsonRecords::next(JsonRecord& out) {
  record_.clear();
  for (;;) {
    if (bytes_.empty()) {
      const Result<std::string_view> bytes = input_.take_bytes();
      if (!bytes) {
        return tl::unexpected(bytes.error());
      }
      if (bytes->empty()) {
        if (!inside_) {
          return false;
        }
        end_record(out, garbage_ ? "this is no JSON object"
                                 : "the file ends in the middle of the object that begins here");
        return true;
      }
      bytes_ = *bytes;
    }
    if (take(bytes_, out) == Step::kRecord) {
      return true;
    }
  }
}

JsonRecords::Step JsonRecords::take(std::string_view& bytes, JsonRecord& out) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    ++column_;
    const Step step = inside_ ? take_inside(c, out) : take_between(c, out);
    if (c == '\n') {
      ++line_;
      column_ = 0;
    }
    if (step == Step::kRecord) {
      bytes.remove_prefix(i + 1);
      return step;
    }
  }
  bytes = {};
  return Step::kMore;
}

JsonRecords::Step JsonRecords::take_between(char c, JsonRecord& /*out*/) {
  if (line_ == 1 && column_ <= kByteOrderMark.size() && c == kByteOrderMark[column_ - 1]) {
    return Step::kMore;
  }
  // The brackets and commas of an array say nothing that the objects do not.
  if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == '[' || c == ']') {
    return Step::kMore;
  }
  inside_ = true;
  garbage_ = c != '{';
  depth_ = 1;
  begin_line_ = line_;
  begin_column_ = column_;
  record_.push_back(c);
  return Step::kMore;
}

JsonRecords::Step JsonRecords::take_inside(char c, JsonRecord& out) {
  if (c == '\n' && (garbage_ || object_a_line_.value_or(false))) {
    return end_record(out,
                      garbage_ ? "this is no JSON object" : "the object does not end on its line");
  }
  if (record_.size() < kMaxJsonRecord) {
    record_.push_back(c);
  } else {
    too_large_ = true;
  }
  if (garbage_) {
    return Step::kMore;
  }
  if (in_string_) {
    in_string_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
    return Step::kMore;
  }
  if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    too_deep_ = ++depth_ > kMaxJsonDepth || too_deep_;
  } else if ((c == '}' || c == ']') && --depth_ == 0) {
    if (!object_a_line_) {
      object_a_line_ = line_ == begin_line_;
    }
    return end_record(out, too_large_  ? "the object is too large"
                           : too_deep_ ? "the object is nested too deep"
                                       : "");
  }
  return Step::kMore;
}

JsonRecords::Step JsonRecords::end_record(JsonRecord& out, std::string_view problem) {
  out = {.text = record_, .line = begin_line_, .column = begin_column_, .problem = problem};
  inside_ = garbage_ = in_string_ = escaped_ = too_large_ = too_deep_ = false;
  return Step::kRecord;
}

}  // namespace gputrace::import
