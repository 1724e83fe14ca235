// Runs every input of the corpus once through its target: what a fuzzer found stays mended.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "test/fuzz/targets.hpp"

int main(int argc, char** argv) {
    static constexpr std::pair<const char*, fuzz::Target> kTargets[] = {
        {"json", fuzz::json},
        {"refusal", fuzz::refusal},
        {"quantity", fuzz::quantity},
        {"duration", fuzz::duration},
        {"secret", fuzz::secret},
        {"kubeconfig", fuzz::kubeconfig},
        {"plugin_output", fuzz::plugin_output},
        {"proxmox_response", fuzz::proxmox_response},
        {"redfish_response", fuzz::redfish_response},
        {"property_string", fuzz::property_string},
        {"vm_option", fuzz::vm_option},
        {"yaml", fuzz::yaml},
        {"user_data", fuzz::user_data},
        {"template_text", fuzz::template_text},
        {"url", fuzz::url},
        {"http_response", fuzz::http_response},
    };
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " CORPUS\n";
        return 2;
    }
    for (const auto& [name, target] : kTargets) {
        int inputs = 0;
        for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(argv[1]) / name)) {
            std::ifstream stream(file.path(), std::ios::binary);
            std::string input{std::istreambuf_iterator<char>(stream), {}};
            std::cout << name << " " << file.path().filename().string() << "\n";
            target(input);
            ++inputs;
        }
        if (inputs == 0) {
            std::cerr << "the corpus has no input for " << name << "\n";
            return 1;
        }
    }
    return 0;
}
