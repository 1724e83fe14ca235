// A NoCloud seed as an ISO 9660 image in memory: how user-data reaches a machine on a virtual CD-ROM.
#pragma once

#include <string>

#include "bootstrap/seed.hpp"

namespace bootstrap {

// Volume ID "cidata", names by Rock Ridge and Joliet, one folder. Equal seeds give equal bytes: the image
// carries no time. It holds what the seed holds: secrets. libarchive's writer is not used here: it keeps the
// contents in a temporary file and stamps the present time. Throws std::invalid_argument if a file is larger
// than 64 MiB.
std::string nocloud_image(const Seed& seed);

}  // namespace bootstrap
