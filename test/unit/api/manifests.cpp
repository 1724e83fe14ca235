#include "test/unit/api/manifests.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "api/yaml.hpp"

namespace test {

namespace {

std::string read(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) throw std::runtime_error("cannot read " + file.string());
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

}  // namespace

std::filesystem::path repository() {
    return KUBENODESMITH_SOURCE;
}

boost::json::object load_crd(std::string_view plural) {
    return api::parse_yaml(read(repository() / "crds" / (std::string(plural) + ".yaml"))).as_object();
}

std::vector<Manifest> load_manifests(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Manifest> manifests;
    for (const auto& file : files)
        for (auto& document : api::parse_yaml_documents(read(file)))
            manifests.push_back({file, std::move(document)});
    return manifests;
}

}  // namespace test
