// Runs every input of the corpus once through its target, so that the faults that a fuzzer found stay fixed.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "test/fuzz/targets.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: " << argv[0] << " CORPUS\n";
        return 2;
    }
    for (const auto& [name, target] : fuzz::all_targets()) {
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
