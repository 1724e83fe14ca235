#include "base/sha256.hpp"

#include <openssl/sha.h>

namespace base {

std::array<unsigned char, 32> sha256(std::string_view bytes) {
    std::array<unsigned char, 32> digest{};
    static_assert(sizeof digest == SHA256_DIGEST_LENGTH);
    SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
    return digest;
}

}  // namespace base
