// Boot data that need not be carried to a machine: the machine can be told where to fetch them.
#pragma once

#include <string>

#include "providers/boot_sources.hpp"
#include "providers/launch.hpp"

namespace providers {

// The image holds what is served. A backend that can hand an address to a machine does that; another one may
// carry the image.
class ServedBootData : public BootImageSource {
public:
    // Ends with a slash; below it are NoCloud's files and their image seed.iso. Who has it may read them.
    virtual asio::awaitable<std::string> url(MachineRecord placed) = 0;
};

// Null: this machine's boot data, if it gets any, have to be carried to it.
inline ServedBootData* served_boot_data(const MachineSpec& spec) {
    return dynamic_cast<ServedBootData*>(spec.boot_image);
}

}  // namespace providers
