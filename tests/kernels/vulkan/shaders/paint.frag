#version 450
// Where and what of a pixel: its place, or the texel that lies there.
layout(constant_id = 0) const uint kFromTexture = 0;
layout(set = 0, binding = 6) uniform sampler2D image;
layout(push_constant) uniform Push { vec4 scale; vec4 offset; } push;
layout(location = 0) out vec4 color;

void main() {
  vec4 place = vec4(gl_FragCoord.xy, 1.0, 1.0);
  color = place * push.scale + push.offset;
  if (kFromTexture != 0) {
    color = textureLod(image, color.xy, 0.0);
  }
}
