#version 460
#extension GL_GOOGLE_include_directive : require

#include "fill.glsl"

void main() {
  gl_FragDepth = filled();
}
