// Reads of local memory, 16 bytes a lane.
#version 460
#extension GL_GOOGLE_include_directive : require
#define ELEMENT uvec4
#define ELEMENT_OF(word) (uvec4((word) * 4u, (word) * 4u + 1u, (word) * 4u + 2u, (word) * 4u + 3u) * 0x9e3779b1u)
#define SUM(element) ((element).x + 3u * (element).y + 5u * (element).z + 7u * (element).w)
#include "local_bandwidth.glsl"
