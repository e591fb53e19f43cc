# Completion of gputrace(1) for fish. tests/systemd/completions_test.sh compares it with --help.

complete -c gputrace -f
complete -c gputrace -n __fish_use_subcommand -s h -l help -d 'Show help'
complete -c gputrace -n __fish_use_subcommand -l version -d 'Show the version'

complete -c gputrace -n __fish_use_subcommand -a bench -d 'Measure one property of a GPU at a time, with proofs'
complete -c gputrace -n __fish_use_subcommand -a decode -d 'Say what the bits of GPU status registers mean'
complete -c gputrace -n __fish_use_subcommand -a doctor -d 'Say what works on this machine, and what does not'
complete -c gputrace -n __fish_use_subcommand -a fetch -d 'Take the sessions that the service keeps for you'
complete -c gputrace -n __fish_use_subcommand -a gpus -d 'List GPUs and what can be read from each'
complete -c gputrace -n __fish_use_subcommand -a import -d 'Turn a recording of another tool into a session'
complete -c gputrace -n __fish_use_subcommand -a list -d 'List your sessions, newest first'
complete -c gputrace -n __fish_use_subcommand -a mark -d 'Set an event in your recordings'
complete -c gputrace -n __fish_use_subcommand -a record -d 'Record a GPU while a command runs'
complete -c gputrace -n __fish_use_subcommand -a report -d 'Say how busy each unit was, how surely, and when'
complete -c gputrace -n __fish_use_subcommand -a sql -d 'Run an SQL query on a session'
complete -c gputrace -n __fish_use_subcommand -a status -d 'Say whether the service runs'

complete -c gputrace -n '__fish_seen_subcommand_from bench decode doctor fetch gpus import list mark record report sql status' -s h -l help -d 'Show help'
complete -c gputrace -n '__fish_seen_subcommand_from import report sql' -F

complete -c gputrace -n '__fish_seen_subcommand_from bench' -l device -x -d 'Vulkan device'
complete -c gputrace -n '__fish_seen_subcommand_from bench' -l gpu -x -d 'The GPU to sample, or a simulated one'
complete -c gputrace -n '__fish_seen_subcommand_from bench' -l quick -d 'Seconds a test instead of minutes'
complete -c gputrace -n '__fish_seen_subcommand_from bench' -l json -d 'Print JSON'
complete -c gputrace -n '__fish_seen_subcommand_from bench' -l no-save -d 'Store nothing'
complete -c gputrace -n '__fish_seen_subcommand_from bench' -l color -x -a 'always never auto' -d 'Colours'
complete -c gputrace -n '__fish_seen_subcommand_from bench' -l ascii -d 'Nothing beyond ASCII'
complete -c gputrace -n '__fish_seen_subcommand_from bench' -a 'all list latency atomics occupancy'

complete -c gputrace -n '__fish_seen_subcommand_from decode' -l gc -x -d 'GC version of the GPU'
complete -c gputrace -n '__fish_seen_subcommand_from decode' -l list -d 'List the known versions and their registers'
complete -c gputrace -n '__fish_seen_subcommand_from decode' -l gpu-metrics -r -F -d 'Decode a metrics table of amdgpu'
complete -c gputrace -n '__fish_seen_subcommand_from decode' -l sysfs -r -F -d 'Decode the sensors of a device folder'
complete -c gputrace -n '__fish_seen_subcommand_from decode' -l json -d 'Print JSON'
complete -c gputrace -n '__fish_seen_subcommand_from decode' -l regdb -r -F -d 'Registers from this folder'

complete -c gputrace -n '__fish_seen_subcommand_from doctor' -l gpu -x -d 'Look at this GPU alone'
complete -c gputrace -n '__fish_seen_subcommand_from doctor' -l json -d 'Print JSON'

complete -c gputrace -n '__fish_seen_subcommand_from fetch' -s o -l output -r -F -d 'Write this file'
complete -c gputrace -n '__fish_seen_subcommand_from fetch' -l force -d 'Replace the file if it exists'

complete -c gputrace -n '__fish_seen_subcommand_from gpus' -l json -d 'Print JSON'
complete -c gputrace -n '__fish_seen_subcommand_from gpus' -l simulated -d 'List the simulated GPUs and their scenarios'

complete -c gputrace -n '__fish_seen_subcommand_from import' -s o -l output -r -F -d 'Write this session'
complete -c gputrace -n '__fish_seen_subcommand_from import' -l force -d 'Replace the session when it exists'
complete -c gputrace -n '__fish_seen_subcommand_from import' -l format -x -a 'auto radeontop regs-csv mangohud amdgpu_top' -d 'Format of the file'
complete -c gputrace -n '__fish_seen_subcommand_from import' -l gc -x -d 'GC version of the GPU'
complete -c gputrace -n '__fish_seen_subcommand_from import' -l gpu -x -d 'GPU of an amdgpu_top file'
complete -c gputrace -n '__fish_seen_subcommand_from import' -l ticks -x -d 'Samples a second that radeontop took'
complete -c gputrace -n '__fish_seen_subcommand_from import' -l regdb -r -F -d 'Registers from this folder'
complete -c gputrace -n '__fish_seen_subcommand_from import' -l lenient -d 'Leave bad lines out and count them'
complete -c gputrace -n '__fish_seen_subcommand_from import' -s q -l quiet -d 'Print nothing but errors'

complete -c gputrace -n '__fish_seen_subcommand_from list' -l json -d 'Print JSON'
complete -c gputrace -n '__fish_seen_subcommand_from list' -l all -d 'List measurements of this machine as well'

complete -c gputrace -n '__fish_seen_subcommand_from record' -s o -l output -r -F -d 'Write this file'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l force -d 'Replace the file if it exists'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l label -x -d 'A name for the session'
complete -c gputrace -n '__fish_seen_subcommand_from record' -s q -l quiet -d 'No summary'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l gpu -x -d 'Which GPU'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l rate -x -d 'Samples a second'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l sensor-rate -x -d 'Readings of sensors a second'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l source -x -a 'auto drm debugfs bar' -d 'How registers are read'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l no-daemon -d 'Do not ask the service'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l wait -x -a 'child tree' -d 'When the recording ends'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l duration -x -d 'Stop recording after this many seconds'
complete -c gputrace -n '__fish_seen_subcommand_from record' -l pid -x -a '(__fish_complete_pids)' -d 'Record until this process ends'
complete -c gputrace -n '__fish_seen_subcommand_from record' -a '(__fish_complete_subcommand --fcs-skip=2)'

complete -c gputrace -n '__fish_seen_subcommand_from report' -l json -d 'Print JSON'
complete -c gputrace -n '__fish_seen_subcommand_from report' -l from -x -d 'Leave out what was before'
complete -c gputrace -n '__fish_seen_subcommand_from report' -l to -x -d 'Leave out what was from then on'
complete -c gputrace -n '__fish_seen_subcommand_from report' -l since -x -d 'What the service recorded since then'
complete -c gputrace -n '__fish_seen_subcommand_from report' -l regdb -r -F -d 'Registers from this folder'
complete -c gputrace -n '__fish_seen_subcommand_from report' -l color -x -a 'always never auto' -d 'Colours'
complete -c gputrace -n '__fish_seen_subcommand_from report' -l ascii -d 'Nothing beyond ASCII'

complete -c gputrace -n '__fish_seen_subcommand_from sql' -l json -d 'Print JSON'
complete -c gputrace -n '__fish_seen_subcommand_from sql' -l csv -d 'Print comma-separated values'
complete -c gputrace -n '__fish_seen_subcommand_from sql' -l timeout -x -d 'Stop a query that takes longer'

complete -c gputrace -n '__fish_seen_subcommand_from status' -l json -d 'Print JSON'
