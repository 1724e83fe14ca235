// Counts the operator's requests to the API server and to Proxmox, by claim and stage of its life.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "test/simulation/world.hpp"

namespace bench {

// Stage is the time of a claim until it is Ready, or from then on until it is gone.
enum class Stage : std::size_t { coming, serving_and_going };

class Requests {
public:
    // Counts from now on; the world must outlive this.
    explicit Requests(simulation::World& world);
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;

    using Kinds = std::map<std::string, std::uint64_t>;  // "PATCH nodesmithclaims/status" -> count
    // Returns requests about one claim, its Node, its pods or its bootstrap token, without Events and
    // evictions.
    const Kinds& of_claims(Stage stage) const { return of_claims_[static_cast<std::size_t>(stage)]; }
    // Returns the number for the claim with the most requests.
    std::uint64_t most_of_a_claim(Stage stage) const;
    // Returns all other requests: about pools, providers, control planes.
    const Kinds& of_others() const { return of_others_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t evictions() const { return evictions_; }

    const Kinds& to_proxmox() const { return to_proxmox_; }
    std::uint64_t most_to_proxmox_in_a_second() const { return most_in_a_second_; }

private:
    struct Claim {
        bool was_ready = false;
        std::array<std::uint64_t, 2> requests{};
    };

    void count(const base::HttpRequest& request);
    void count(const simulation::proxmox::RequestRecord& record);
    // Returns the name of the request's claim; "": no claim.
    std::string claim_of(const base::HttpRequest& request) const;

    simulation::World& world_;
    std::map<std::string, Claim> claims_;
    std::map<std::string, std::string> tokens_;  // name of the Secret -> name of its claim
    std::array<Kinds, 2> of_claims_;
    Kinds of_others_;
    Kinds to_proxmox_;
    std::uint64_t events_ = 0;
    std::uint64_t evictions_ = 0;
    base::TimePoint second_{};
    std::uint64_t in_second_ = 0;
    std::uint64_t most_in_a_second_ = 0;
};

std::uint64_t sum(const Requests::Kinds& kinds);

}  // namespace bench
