// A fingerprint of everything in a pool and its provider that shapes machines: a claim whose fingerprint
// differs has drifted.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// "2-" and 16 hexadecimal digits; equal for equal machineTemplate (but for sizes and names of what is
// launched next), bootstrap and providerRef of the pool, and equal template, options, network interfaces,
// cloud-init and overhead of the provider (null: there is none). Where machines are placed and how the
// provider is reached does not shape them, and neither does a label that has no effect. A field that has its
// default is not there, so that versions which know more fields say the same.
std::string template_hash(const NodeSmithPool& pool, const NodeSmithProvider* provider);

// Whether it was computed as template_hash() does. Of another one nobody can say whether the machine has
// drifted.
bool is_comparable(std::string_view template_hash);

// Hashes anew only what has changed since it was asked last.
class TemplateHashes {
public:
    const std::string& of(const NodeSmithPool& pool, const NodeSmithProvider* provider);

private:
    struct Known {
        api::v1alpha1::PoolSpec pool;
        api::v1alpha1::ProviderSpec provider;  // as by default: there is none
        std::string hash;
    };
    static constexpr std::size_t kMostKnown = 10'000;
    std::map<std::string, Known> known_;  // by the pool's UID
};

}  // namespace controllers::claim
