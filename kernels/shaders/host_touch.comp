// One word of a buffer that may be large: what is not touched need not move.
#version 460
layout(local_size_x = 1) in;

layout(binding = 0, std430) readonly buffer From { uint from[]; };
layout(binding = 1, std430) buffer Seen {
  uint seen;
  uint count;
};
layout(push_constant) uniform Push { uint place; };

void main() {
  seen = from[place];
  atomicAdd(count, 1u);
}
