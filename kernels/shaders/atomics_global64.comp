// Atomics on 64-bit words of a buffer; what is added has both halves set.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define WORD uint64_t
#define WIDEN(value) (uint64_t(value) * 0x100000001ul)
#include "atomics_main.glsl"
