#include "test/simulators/proxmox/core/identifiers.hpp"

#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {

std::string random_uuid(base::Random& random) {
    auto digits = random.text(32, "0123456789abcdef");
    digits[12] = '4';
    digits[16] = "89ab"[random.below(4)];
    for (std::size_t position : {20U, 16U, 12U, 8U}) digits.insert(position, 1, '-');
    return digits;
}

std::string random_mac(base::Random& random, const std::string& prefix) {
    auto mac = prefix.empty() ? std::string("BC:24:11") : prefix;
    while (mac.ends_with(':')) mac.pop_back();
    while (mac.size() < 17) mac += ":" + hex(random.below(256), 2);
    return mac;
}

}  // namespace proxmox_simulator
