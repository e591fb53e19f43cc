// What the pixels of the fill test are filled with. Four numbers come from four bytes, the same for
// all pixels, in steps along the rows, or as noise; they turn in two pairs as in alu.glsl, and all
// of them are part of the one result.

layout(constant_id = 0) const uint kNoise = 0;

layout(push_constant) uniform Push {
  layout(offset = 0) uint trips;
  layout(offset = 4) float x;
  layout(offset = 8) float y;
  layout(offset = 12) uint base;
  layout(offset = 16) uint shift;  // 31: the same for all pixels, which no compiler can know
};

uint four_bytes(uvec2 pixel) {
  if (kNoise != 0) {
    // Multiplications of 24 bits, which are not slower than additions where there are any.
    uint hash = (pixel.x & 0xffffu) * 0x9e3779u + (pixel.y & 0xffffu) * 0x85ebcau;
    hash ^= hash >> 13;
    hash = (hash & 0xffffffu) * 0x5bd1e9u;
    return hash ^ (hash >> 11);
  }
  uint step = pixel.x >> shift;
  step |= step << 8;
  return base + (step | (step << 16));
}

#define ROUND          \
  p0 = fma(x, q0, p0); \
  p1 = fma(x, q1, p1); \
  q0 = fma(y, p0, q0); \
  q1 = fma(y, p1, q1);

float filled() {
  vec4 start = unpackUnorm4x8(four_bytes(uvec2(gl_FragCoord.xy)));
  float p0 = start.x;
  float q0 = start.y;
  float p1 = start.z;
  float q1 = start.w;
  for (uint trip = 0; trip < trips; trip++) {
    ROUND ROUND ROUND ROUND
  }
  // The ellipses leave the circle by little: the result stays below 1.
  return abs(((p0 + q0) + (p1 + q1)) * 0.22);
}
