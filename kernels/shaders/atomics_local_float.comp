// Additions of fp32 numbers to words of local memory; groups of 256.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_float : require
#define WORD float
#define WIDEN(value) float(value)
#define FLOATS
#define SHARED
#include "atomics_main.glsl"
