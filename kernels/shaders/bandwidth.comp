#version 460
#extension GL_GOOGLE_include_directive : require

#define VECTOR uvec4
#define WORDS(vector) (vector)
#define FLOATS(vector) uintBitsToFloat(vector)
#define VECTOR_OF_WORDS(words) (words)
#define VECTOR_OF_FLOATS(floats) floatBitsToUint(floats)

#include "bandwidth.glsl"
