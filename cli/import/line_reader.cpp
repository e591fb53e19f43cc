#include "cli/import/line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace gputrace::import {

namespace {
constexpr std::size_t kBufferSize = 3 * kMaxLineLength;
}  // namespace

LineReader::LineReader(ReadBytes read_bytes, std::string name)
    : read_bytes_(std::move(read_bytes)),
      name_(std::move(name)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferSize)) {}

Status LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const Result<std::size_t> got = read_bytes_({buffer_.get() + end_, kBufferSize - end_});
  if (!got) {
    return tl::unexpected(got.error());
  }
  end_ += *got;
  at_end_ = *got == 0;
  return {};
}

Result<std::string_view> LineReader::peek() {
  while (!at_end_ && end_ - begin_ < kMaxLineLength) {
    if (const Status filled = fill(); !filled) {
      return tl::unexpected(filled.error());
    }
  }
  return unread().substr(0, kMaxLineLength);
}

Result<std::string_view> LineReader::take_bytes() {
  if (begin_ == end_ && !at_end_) {
    if (const Status filled = fill(); !filled) {
      return tl::unexpected(filled.error());
    }
  }
  const std::string_view bytes = unread();
  begin_ = end_;
  return bytes;
}

Result<bool> LineReader::next(Line& out) {
  std::size_t searched = 0;
  for (;;) {
    const std::string_view text = unread();
    const std::size_t newline = text.find('\n', searched);
    if (newline > kMaxLineLength && text.size() > kMaxLineLength) {
      return next_too_long(out);
    }
    if (newline != std::string_view::npos) {
      begin_ += newline + 1;
      out = {.text = text.substr(0, newline), .number = ++line_number_};
      return true;
    }
    if (at_end_) {
      if (text.empty()) {
        return false;
      }
      begin_ = end_;
      out = {.text = text, .number = ++line_number_, .terminated = false};
      return true;
    }
    searched = text.size();
    if (const Status filled = fill(); !filled) {
      return tl::unexpected(filled.error());
    }
  }
}

Result<bool> LineReader::next_too_long(Line& out) {
  // The beginning moves to the front of the buffer and stays there; the rest is passed over.
  const std::size_t kept = kMaxLineLength;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = kept;
  out = {.text = {buffer_.get(), kept}, .number = ++line_number_, .too_long = true};
  for (;;) {
    const std::size_t newline = unread().find('\n');
    if (newline != std::string_view::npos) {
      begin_ += newline + 1;
      return true;
    }
    if (at_end_) {
      begin_ = end_;
      out.terminated = false;
      return true;
    }
    begin_ = end_ = kept;
    const Result<std::size_t> got = read_bytes_({buffer_.get() + end_, kBufferSize - end_});
    if (!got) {
      return tl::unexpected(got.error());
    }
    end_ += *got;
    at_end_ = *got == 0;
  }
}

LineReader::ReadBytes read_descriptor(int fd, std::string name, std::function<bool()> interrupted) {
  return [fd, name = std::move(name),
          interrupted = std::move(interrupted)](std::span<char> buffer) -> Result<std::size_t> {
    for (;;) {
      const ssize_t got = ::read(fd, buffer.data(), buffer.size());
      if (interrupted()) {
        return fail(ErrorCode::kIo, "interrupted while reading " + name);
      }
      if (got >= 0) {
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return fail_errno(errno, "cannot read " + name);
      }
    }
  };
}

LineReader::ReadBytes read_memory(std::string_view text) {
  return [text](std::span<char> buffer) mutable -> Result<std::size_t> {
    const std::size_t size = std::min(text.size(), buffer.size());
    std::copy_n(text.begin(), size, buffer.begin());
    text.remove_prefix(size);
    return size;
  };
}

}  // namespace gputrace::import
