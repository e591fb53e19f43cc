#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

// For software rasterisers, which load every word of every lane by itself: half as many words.
#define VECTOR u64vec2
#define WORDS(vector) uvec4(unpackUint2x32((vector).x), unpackUint2x32((vector).y))
#define FLOATS(vector) uintBitsToFloat(WORDS(vector))
#define VECTOR_OF_WORDS(words) u64vec2(packUint2x32((words).xy), packUint2x32((words).zw))
#define VECTOR_OF_FLOATS(floats) VECTOR_OF_WORDS(floatBitsToUint(floats))

#include "bandwidth.glsl"
