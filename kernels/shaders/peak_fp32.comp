#version 460
#extension GL_GOOGLE_include_directive : require

#define NUMBER float
#define STORED float
#define FROM_STORED(word) (word)
#define TO_STORED(number) (number)
#define MULTIPLY_ADD(a, b, sum) fma(a, b, sum)
#define PAIRS 8
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define BODY ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND

#include "peak.glsl"
