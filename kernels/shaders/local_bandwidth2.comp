// Reads of local memory, 8 bytes a lane.
#version 460
#extension GL_GOOGLE_include_directive : require
#define ELEMENT uvec2
#define ELEMENT_OF(word) (uvec2((word) * 2u, (word) * 2u + 1u) * 0x9e3779b1u)
#define SUM(element) ((element).x + 3u * (element).y)
#include "local_bandwidth.glsl"
