#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_spirv_intrinsics : require

// OpSDot of the four bytes in a word, which GLSL has no name for. The capabilities are DotProduct and
// DotProductInput4x8BitPacked; format 0 is PackedVectorFormat4x8Bit.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019],
                  id = 4450)
int dot_of_bytes(int a, int b, spirv_literal int format);

#define NUMBER int
#define STORED int
#define FROM_STORED(word) (word)
#define TO_STORED(number) (number)
#define MULTIPLY_ADD(a, b, sum) (dot_of_bytes(a, b, 0) + (sum))
#define PAIRS 8
#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define BODY ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND

#include "peak.glsl"
