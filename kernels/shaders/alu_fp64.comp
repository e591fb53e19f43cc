#version 460
#extension GL_GOOGLE_include_directive : require

// Quotients and roots are made of thirty instructions: few accumulators and rounds keep the body
// short.
#define NUMBER double
#define STORED double
#define FROM_STORED(word) (word)
#define TO_STORED(number) (number)
#define FLOATS
#define SHORT_FUNCTIONS
#define PAIRS 4
#define EACH(M, x, y) M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y)

#include "alu.glsl"
