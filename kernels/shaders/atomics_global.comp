// Atomics on 32-bit words of a buffer.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORD uint
#define WIDEN(value) (value)
#include "atomics_main.glsl"
