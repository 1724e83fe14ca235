// Reads a small ISO 9660 image by its Joliet names, as a guest does that mounts its CD-ROM.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace simulation {

struct IsoImage {
    std::string volume_id;                     // lower case
    std::map<std::string, std::string> files;  // files of the root directory
};

// Throws std::runtime_error if the text is not such an image. Sources: ECMA-119, and Joliet with names in
// UCS-2, big endian.
IsoImage read_iso(std::string_view image);

}  // namespace simulation
