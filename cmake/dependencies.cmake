# Libraries come from Debian 12's packages. Boost and yaml-cpp are linked statically to keep
# the image small and the start quick; glibc, libstdc++ and OpenSSL stay dynamic.
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81 REQUIRED COMPONENTS json url container)
find_package(OpenSSL 3.0 REQUIRED)
find_package(Threads REQUIRED)
find_package(spdlog REQUIRED)
find_package(Catch2 2 REQUIRED)
find_package(CLI11 REQUIRED)

find_path(YAML_CPP_INCLUDE yaml-cpp/yaml.h REQUIRED)
find_library(YAML_CPP_LIBRARY NAMES libyaml-cpp.a REQUIRED)
add_library(dependency_yaml INTERFACE)
target_include_directories(dependency_yaml SYSTEM INTERFACE ${YAML_CPP_INCLUDE})
target_link_libraries(dependency_yaml INTERFACE ${YAML_CPP_LIBRARY})

# Reads ISO images in tests and simulated guests; nothing that users run links it.
find_path(ARCHIVE_INCLUDE archive.h REQUIRED)
find_library(ARCHIVE_LIBRARY NAMES libarchive.a REQUIRED)
add_library(dependency_archive INTERFACE)
target_include_directories(dependency_archive SYSTEM INTERFACE ${ARCHIVE_INCLUDE})
find_library(Z_LIBRARY NAMES libz.a REQUIRED)
target_link_libraries(dependency_archive INTERFACE ${ARCHIVE_LIBRARY} ${Z_LIBRARY})

# Asio and Beast are compiled once, in base/asio_impl.cpp.
add_library(dependency_asio INTERFACE)
target_compile_definitions(dependency_asio INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_ARRAY BOOST_ASIO_DISABLE_BOOST_BIND)
target_link_libraries(dependency_asio INTERFACE Boost::headers Threads::Threads)
