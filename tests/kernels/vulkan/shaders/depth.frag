#version 450
layout(push_constant) uniform Push { vec4 scale; vec4 offset; } push;

void main() {
  gl_FragDepth = gl_FragCoord.x * push.scale.x + gl_FragCoord.y * push.scale.y + push.offset.x;
}
