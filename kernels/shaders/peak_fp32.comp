#version 460
layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Start { vec4 start[]; };
layout(binding = 1, std430) writeonly buffer Result { vec4 result[]; };
layout(push_constant) uniform Push {
  uint trips;
  float x;
  float y;
};

void main() {
  vec4 p = start[gl_LocalInvocationIndex];
  for (uint trip = 0; trip < trips; trip++) {
    p = fma(vec4(x), p.yzwx, p);
  }
  result[gl_GlobalInvocationID.x] = p;
}
