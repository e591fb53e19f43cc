#version 460
#extension GL_GOOGLE_include_directive : require

// All components, in a target of one too: a compiler may drop what a narrow output does not show.

#include "fill.glsl"

layout(location = 0) out vec4 color;

void main() {
  color = vec4(filled());
}
