# `cpack` in the build folder: one .deb with daemon, command line, units, man pages, completions.
set(GPUTRACE_MAINTAINER "The gputrace authors <gputrace@packages.invalid>" CACHE STRING
    "Maintainer: field of the package")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gputrace)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${GPUTRACE_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Sampling profiler of AMD GPU busy bits")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"gputrace samples the busy bits of an AMD GPU's status registers while a
program runs, keeps them in one SQLite file, and reports how busy each unit
was, how surely, and when.
.
The service gputraced reads registers that need root on behalf of the members
of the group gputrace. It starts when the first of them asks.")
set(CPACK_STRIP_FILES ON)
# The real prefix, which the unit names; without this CPack installs into a prefix of its own.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libvulkan1, mesa-vulkan-drivers")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/deb/conffiles
    ${CMAKE_CURRENT_LIST_DIR}/deb/postinst
    ${CMAKE_CURRENT_LIST_DIR}/deb/prerm
    ${CMAKE_CURRENT_LIST_DIR}/deb/postrm)

# What Debian asks of every package's documentation folder.
find_program(GZIP gzip REQUIRED)
set(changelog ${PROJECT_BINARY_DIR}/systemd/changelog.gz)
add_custom_command(OUTPUT ${changelog}
  COMMAND ${GZIP} -9nc ${CMAKE_CURRENT_LIST_DIR}/deb/changelog > ${changelog}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/deb/changelog VERBATIM)
add_custom_target(gputrace_changelog ALL DEPENDS ${changelog})
install(FILES ${changelog} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gputrace)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/deb/copyright
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gputrace)

include(CPack)
