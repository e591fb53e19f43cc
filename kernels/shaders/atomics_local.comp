// Atomics on 32-bit words of local memory; groups of 256.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORD uint
#define WIDEN(value) (value)
#define SHARED
#include "atomics_main.glsl"
