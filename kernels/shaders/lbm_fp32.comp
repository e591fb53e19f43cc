#version 460
#extension GL_GOOGLE_include_directive : require

#define WORD float
#define TAKEN(word) (word)
#include "lbm.glsl"

#define STORE(a, b, dx, dy, dz)  \
  to[a * cells + cell] = f##a;   \
  to[b * cells + cell] = f##b;

void main() {
  LOCATE
  WORD word0 = from[cell];
  EACH_PAIR(FETCH)
  precise float f0 = TAKEN(word0);
  EACH_PAIR(TAKE)
  COLLIDE
  to[cell] = f0;
  EACH_PAIR(STORE)
}
