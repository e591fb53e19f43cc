#version 460
#extension GL_EXT_control_flow_attributes : require

// A vec4 in, a number of FMAs that is fixed when the pipeline is made, a vec4 out. The code is
// unrolled and grows with that number, and the addend is not the destination, which takes the long
// form of the instruction: both as in the sweep that this repeats. The addend is a vector register,
// since Vega's multiply-add reads one scalar at most.

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint fmas = 1;    // of each number of a chain
layout(constant_id = 2) const uint chains = 1;  // 1 or 4

layout(binding = 0, std430) readonly buffer From { vec4 from[]; };
layout(binding = 1, std430) writeonly buffer To { vec4 to[]; };

layout(push_constant) uniform Push {
  float factor;  // near -1: values swing about half the addend and do not settle there
  float apart;   // chains begin this far from each other
};

void main() {
  vec4 f = vec4(factor);
  vec4 s = from[gl_GlobalInvocationID.x];
  vec4 a = s;
  if (chains == 1) {
    [[unroll]] for (uint i = 0; i < fmas; i++) {
      a = fma(a, f, s);
    }
  } else {
    vec4 b = a + apart;
    vec4 c = b + apart;
    vec4 d = c + apart;
    [[unroll]] for (uint i = 0; i < fmas; i++) {
      a = fma(a, f, s);
      b = fma(b, f, s);
      c = fma(c, f, s);
      d = fma(d, f, s);
    }
    a = a + b + c + d;
  }
  to[gl_GlobalInvocationID.x] = a;
}
