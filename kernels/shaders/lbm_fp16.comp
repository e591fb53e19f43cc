#version 460
#extension GL_GOOGLE_include_directive : require

// Two boxes in one buffer: a word holds a population of each as halves.
#define WORD uint
#define TAKEN(word) (unpackHalf2x16(word)[box])
#include "lbm.glsl"

#define DECLARE(a, b, dx, dy, dz) vec2 packed##a, packed##b;
#define PACK(a, b, dx, dy, dz) \
  packed##a[box] = f##a;       \
  packed##b[box] = f##b;
#define STORE(a, b, dx, dy, dz)                   \
  to[a * cells + cell] = packHalf2x16(packed##a); \
  to[b * cells + cell] = packHalf2x16(packed##b);
#define RELAX_BOX(number)              \
  {                                    \
    const uint box = number;           \
    precise float f0 = TAKEN(word0);   \
    EACH_PAIR(TAKE)                    \
    COLLIDE                            \
    packed0[box] = f0;                 \
    EACH_PAIR(PACK)                    \
  }

void main() {
  LOCATE
  WORD word0 = from[cell];
  EACH_PAIR(FETCH)
  vec2 packed0;
  EACH_PAIR(DECLARE)
  RELAX_BOX(0)
  RELAX_BOX(1)
  to[cell] = packHalf2x16(packed0);
  EACH_PAIR(STORE)
}
