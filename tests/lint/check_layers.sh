#!/usr/bin/env bash
# Checks every #include against the walls between the folders (docs/architecture.md).
# Usage: check_layers.sh ROOT
set -euo pipefail
cd "$1"

folders=()
for folder in regdb daemon cli kernels tests; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
find "${folders[@]}" -type f \( -name '*.h' -o -name '*.cpp' \) -print | sort | tr '\n' '\0' |
  xargs -0 -r awk '
BEGIN {
  # layer: what it may include besides itself and the standard library. A folder stands for all of
  # its files. Folders without a line (mains, cli/commands, most of tests) may include everything.
  allow["regdb"]                = "daemon/base/result.h"
  allow["daemon/base"]          = ""
  allow["daemon/sampler"]       = "daemon/base regdb"
  allow["daemon/os"]            = "daemon/base daemon/sampler regdb"
  allow["daemon/simulated_gpu"] = "daemon/base daemon/sampler regdb"
  allow["daemon/store"]         = "daemon/base regdb daemon/sampler/sample_block.h " \
                                  "daemon/sampler/register_reader.h daemon/sampler/gpu_identity.h " \
                                  "daemon/sampler/sensor_reader.h"
  allow["daemon/ipc"]           = "daemon/base daemon/os"
  allow["daemon/recorder"]      = "daemon/base daemon/os daemon/sampler daemon/store daemon/ipc regdb"
  allow["daemon/service"]       = "daemon/base daemon/os daemon/sampler daemon/store daemon/ipc " \
                                  "daemon/recorder/recorder.h daemon/recorder/reader_factory.h regdb"
  allow["kernels/vulkan"]       = "daemon/base"
  allow["kernels/bench"]        = "daemon/base kernels/vulkan cli/analysis/statistics.h " \
                                  "cli/analysis/bench_result.h"
  allow["cli/analysis"]         = "daemon/base regdb"
  allow["cli/report"]           = "daemon/base regdb cli/analysis"
  allow["cli/import"]           = "daemon/base regdb daemon/store"
  # simulated_gpu hands out register readers. What tests the rig may use everything (see below).
  allow["tests/rig"]            = "daemon/base regdb daemon/simulated_gpu " \
                                  "daemon/sampler/register_reader.h " \
                                  "daemon/sampler/sensor_reader.h tests/support"

  # header of a library, as a pattern -> who may include it, as a pattern of file names.
  only["^sqlite3\\.h$"]                                    = "^(daemon/store/|tests/)"
  only["^zstd"]                                            = "^(daemon/store/|tests/)"
  only["^(xf86drm|drm|libdrm/|amdgpu|drm/|pciaccess|pci/)"] = "^(daemon/os/|tests/)"
  only["^linux/(netlink|perf_event|rtnetlink)"]            = "^(daemon/os/|tests/)"
  only["^systemd/"]                                        = "^(daemon/os/|tests/)"
  only["^cap-ng"]                                          = "^(daemon/os/|tests/)"
  only["^toml\\+\\+"]                                      = "^(daemon/service/.*\\.cpp$|tests/)"
  only["^(volk|vulkan/)"]                                  = "^(kernels/vulkan/|tests/)"
  only["^(fuse|fuse3/)"]                                   = "^tests/"
  # A header may name the type (json_fwd.hpp), never bring the library in.
  only["^nlohmann/json_fwd\\.hpp$"] = "^daemon/(ipc|simulated_gpu)/|^tests/"
  only["^nlohmann/json\\.hpp$"] = "^(cli/(report|import|commands)|daemon/(ipc|simulated_gpu))/.*\\.cpp$|^tests/"
}

function inside(path, folder) { return path == folder || index(path, folder "/") == 1 }

function bad(text) {
  printf "%s:%d: %s\n", FILENAME, FNR, text
  failures++
}

FNR == 1 {
  layer = ""
  for (folder in allow) {
    if (FILENAME ~ /_test\.cpp$/) break
    if (inside(FILENAME, folder) && length(folder) > length(layer)) layer = folder
  }
  split(layer == "" ? "" : allow[layer], allowed, " ")
}

/^[ \t]*#[ \t]*include/ {
  line = $0
  sub(/^[ \t]*#[ \t]*include[ \t]*/, "", line)
  quoted = substr(line, 1, 1) == "\""
  header = substr(line, 2)
  sub(/[">].*/, "", header)
  for (pattern in only) {
    if (header ~ pattern && FILENAME !~ only[pattern]) {
      bad(header " does not belong here; it is for " only[pattern])
    }
  }
  if (!quoted) next
  if (header !~ /^(regdb|daemon|cli|kernels|tests)\//) {
    bad("\"" header "\" is not named from the root of the tree")
    next
  }
  if ((getline ignored < header) < 0) bad(header " does not exist")
  close(header)
  if (header ~ /^tests\// && FILENAME !~ /^tests\//) bad("the program must not include tests")
  if (layer == "" || inside(header, layer)) next
  for (i in allowed) if (inside(header, allowed[i])) next
  bad(layer " must not include " header)
}

END { exit failures > 0 }'
