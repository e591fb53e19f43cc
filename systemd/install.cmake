# Runs in `cmake --install`. With the prefix /usr the configuration is in /etc (as GNUInstallDirs
# says it), else below the prefix.
function(gputrace_absolute variable folder)
  if(NOT IS_ABSOLUTE "${folder}")
    set(folder "${CMAKE_INSTALL_PREFIX}/${folder}")
  endif()
  set(${variable} "${folder}" PARENT_SCOPE)
endfunction()

gputrace_absolute(SBINDIR "${GPUTRACE_SBINDIR}")
gputrace_absolute(SYSCONFDIR "${GPUTRACE_SYSCONFDIR}")
if(SYSCONFDIR STREQUAL "/usr/etc")
  set(SYSCONFDIR /etc)
endif()

# "lib" on every machine: systemd looks in no libdir. Straight to its place: two installations may
# run at once, with two prefixes.
set(UNITS "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
file(INSTALL "${GPUTRACE_SYSTEMD_SOURCE}/gputraced.socket" DESTINATION "${UNITS}" TYPE FILE)
message(STATUS "Installing: $ENV{DESTDIR}${UNITS}/gputraced.service")
configure_file("${GPUTRACE_SYSTEMD_SOURCE}/gputraced.service.in"
               "$ENV{DESTDIR}${UNITS}/gputraced.service" @ONLY NO_SOURCE_PERMISSIONS)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${UNITS}/gputraced.service")
file(INSTALL "${GPUTRACE_SYSTEMD_SOURCE}/sysusers.conf"
     DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/sysusers.d" TYPE FILE RENAME gputrace.conf)
file(INSTALL "${GPUTRACE_SYSTEMD_SOURCE}/tmpfiles.conf"
     DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/tmpfiles.d" TYPE FILE RENAME gputrace.conf)
if(EXISTS "$ENV{DESTDIR}${SYSCONFDIR}/gputrace/gputraced.toml")
  message(STATUS "Kept: $ENV{DESTDIR}${SYSCONFDIR}/gputrace/gputraced.toml")
else()
  file(INSTALL "${GPUTRACE_SYSTEMD_SOURCE}/gputraced.toml"
       DESTINATION "${SYSCONFDIR}/gputrace" TYPE FILE)
endif()
