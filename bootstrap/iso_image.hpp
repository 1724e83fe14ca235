// Builds a NoCloud seed as an ISO 9660 image in memory: the form in which a virtual CD-ROM carries user-data.
#pragma once

#include <string>

#include "bootstrap/seed.hpp"

namespace bootstrap {

// Returns an image with volume ID "cidata", names by Rock Ridge and Joliet, and one folder. Equal seeds give
// equal bytes, because the image contains no time. It contains the seed's secrets. libarchive's writer is
// not used: it keeps the contents in a temporary file and writes the present time. Throws
// std::invalid_argument if a file is larger than 64 MiB.
std::string nocloud_image(const Seed& seed);

}  // namespace bootstrap
