# Installs headers and the CMake package; each library and tool installs itself. A client says
# find_package(Tofu) and links Tofu::TofuTransforms.

include(CMakePackageConfigHelpers)

set(TOFU_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Tofu)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/Tofu ${PROJECT_BINARY_DIR}/include/Tofu
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.h.inc" PATTERN CMakeFiles EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TofuConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/cmake/TofuConfig.cmake
                              INSTALL_DESTINATION ${TOFU_PACKAGE_DIR}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/TofuConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/TofuConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/TofuConfigVersion.cmake
        DESTINATION ${TOFU_PACKAGE_DIR})
install(EXPORT TofuTargets NAMESPACE Tofu:: DESTINATION ${TOFU_PACKAGE_DIR})
