#include "controllers/claim/template_hash.hpp"

#include <openssl/sha.h>

#include <array>
#include <boost/json/serialize.hpp>

#include "api/json.hpp"

namespace controllers::claim {

std::string template_hash(const api::v1alpha1::NodeSmithPool& pool) {
    api::v1alpha1::NodeSmithPool shape;
    shape.spec.providerRef = pool.spec.providerRef;
    shape.spec.machineTemplate = pool.spec.machineTemplate;
    shape.spec.bootstrap = pool.spec.bootstrap;
    // What may be bought next says nothing of what was bought.
    auto& machine = shape.spec.machineTemplate;
    machine.sizes.clear();
    machine.flexible.reset();
    machine.systemReserved = {};
    machine.kubeNodeNamePrefix.clear();
    // Described structs are encoded in the order of their members, so equal values give equal text.
    const auto text = boost::json::serialize(api::encode(shape));
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hash;
    for (std::size_t i = 0; i < 8; ++i) {
        hash += kDigits[digest[i] >> 4];
        hash += kDigits[digest[i] & 15];
    }
    return hash;
}

}  // namespace controllers::claim
