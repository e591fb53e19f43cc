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
#define INTEGERS
#define MULTIPLY(a, b) dot_of_bytes(a, b, 0)
#define PAIRS 8
#define EACH(M, x, y) \
  M(0, x, y) M(1, x, y) M(2, x, y) M(3, x, y) M(4, x, y) M(5, x, y) M(6, x, y) M(7, x, y)

#include "alu.glsl"
