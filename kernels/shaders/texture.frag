#version 460

// Fetches from a texture, kFetches in the body of a loop, and the sum of all that they return.
// Coherent: neighbouring pixels fetch neighbouring texels, and each fetch of a pixel takes the
// texel to the right. Random: each pixel has a sequence of its own from a hash; to have its
// cost, kHash does all the same and adds up the coordinates.

layout(constant_id = 0) const uint kFetches = 1;
layout(constant_id = 1) const uint kAccess = 0;
layout(constant_id = 2) const uint kComponents = 4;

const uint kCoherent = 0;
const uint kHash = 2;

layout(binding = 6) uniform sampler2D image;

layout(push_constant) uniform Push {
  layout(offset = 0) uint trips;
  layout(offset = 4) float texel;   // 1 / size
  layout(offset = 8) float offset;  // of the coherent coordinates
  layout(offset = 12) uint mask;    // of the mantissa's bits that tell texels apart
  layout(offset = 16) uint bits;    // the exponent of 1, and the place within a texel
};

layout(location = 0) out uint result;

vec2 at = gl_FragCoord.xy * texel + offset;
uint state;
vec4 sum = vec4(0);

uint seed() {
  uint hash = ((uint(gl_FragCoord.y) << 16) + uint(gl_FragCoord.x)) * 0x85ebca6bu;
  hash ^= hash >> 15;
  hash *= 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

void step_on() {
  if (kAccess == kCoherent) {
    at.x += texel;
    return;
  }
  // One multiplication of 24 bits a fetch, which GPUs do at full rate: so random fetches are not
  // bound by their coordinates. These lie between 1 and 2, and textures repeat.
  uint before = state & 0xffffffu;
  state = before * 0x5bd1e9u + 0x9e3779b9u;
  at = uintBitsToFloat((uvec2(state >> 9, before >> 1) & mask) | bits);
}

void fetch() {
  step_on();
  if (kAccess == kHash) {
    sum.xy += at;
    return;
  }
  vec4 value = textureLod(image, at, 0);
  if (kComponents == 1) {
    sum.x += value.x;
  } else {
    sum += value;
  }
}

void main() {
  state = seed();
  for (uint trip = 0; trip < trips; trip++) {
    fetch();
    if (kFetches >= 2) {
      fetch();
    }
    if (kFetches >= 4) {
      fetch(); fetch();
    }
    if (kFetches >= 8) {
      fetch(); fetch(); fetch(); fetch();
    }
    if (kFetches >= 16) {
      fetch(); fetch(); fetch(); fetch();
      fetch(); fetch(); fetch(); fetch();
    }
  }
  // Weights tell components apart.
  result = floatBitsToUint(dot(sum, vec4(1, 2, 3, 4)));
}
