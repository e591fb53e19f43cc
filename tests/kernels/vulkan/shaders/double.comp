#version 450
// out[i] = in[i] * factor + addend, and what the other bindings hold.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kFactor = 2;
layout(set = 0, binding = 0) readonly buffer In { uint values[]; } source;
layout(set = 0, binding = 1) buffer Out { uint values[]; } target;
layout(set = 0, binding = 4) uniform Block { uvec4 value; } block;
layout(set = 0, binding = 5) uniform usamplerBuffer texels;
layout(push_constant) uniform Push { uint addend; uint count; uint use_others; } push;

void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < push.count) {
    uint value = source.values[i] * kFactor + push.addend;
    if (push.use_others != 0) {
      value += block.value.z + texelFetch(texels, int(i)).x;
    }
    target.values[i] = value;
  }
}
