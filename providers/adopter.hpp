// Taking over machines that the Go project KubeNodeSmith made: they carry its tag, but no mark of ours.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <variant>

#include "providers/machine.hpp"

namespace providers {

namespace asio = boost::asio;

struct Adopted {
    MachineRecord record;
    std::string provider_id;
    std::string zone;  // empty: it has none
};
// It is not proven to be that machine, and nothing was changed.
struct NotAdopted {
    std::string message;  // what is missing
};
using AdoptResult = std::variant<Adopted, NotAdopted>;

// Implemented by backends that can.
class Adopter {
public:
    Adopter() = default;
    Adopter(const Adopter&) = delete;
    Adopter& operator=(const Adopter&) = delete;
    virtual ~Adopter() = default;

    // Writes the mark of `identity` into the machine called `identity.claim_name`, if it is the only one of
    // that name, has the provider's tag, and has the UUID of `identity`, which its Node reports. Repeatable.
    // Throws ProviderError.
    virtual asio::awaitable<AdoptResult> adopt(MachineIdentity identity) = 0;
};

}  // namespace providers
