// Writes every served request as a line of JSON, for tests that count and time them.
#pragma once

#include <fstream>
#include <string>

#include "test/simulators/proxmox/core/simulator.hpp"

namespace proxmox_simulator {

class RequestLog {
public:
    // An empty path means no log. Throws std::runtime_error if the file can't be opened.
    explicit RequestLog(const std::string& path);

    void write(const RequestRecord& record);
    // Forgets everything written so far.
    void reset();

private:
    void open();

    std::string path_;
    std::ofstream file_;
};

}  // namespace proxmox_simulator
