// Loads the manifests of this repository as JSON.
#pragma once
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace test {

struct Manifest {
    std::filesystem::path file;
    boost::json::value document;
};

// Returns the top folder of the repository.
std::filesystem::path repository();
// Loads crds/<plural>.yaml.
boost::json::object load_crd(std::string_view plural);
// Loads every document of every YAML file below `folder`, sorted by path.
std::vector<Manifest> load_manifests(const std::filesystem::path& folder);

}  // namespace test
