// Which sanitizer a test was built with. GCC says so by macros, Clang by features.
#pragma once

#ifndef __has_feature
#define __has_feature(x) 0  // NOLINT(bugprone-reserved-identifier): GCC 13 and older lack it
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define GPUTRACE_THREAD_SANITIZER
#endif

namespace gputrace::test {

#ifdef GPUTRACE_THREAD_SANITIZER
inline constexpr bool kWithThreadSanitizer = true;
#else
inline constexpr bool kWithThreadSanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool kWithAddressSanitizer = true;
#else
inline constexpr bool kWithAddressSanitizer = false;
#endif

}  // namespace gputrace::test
