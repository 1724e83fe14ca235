// A fingerprint of everything in a pool and its provider that shapes machines: a claim whose fingerprint
// differs has drifted.
#pragma once

#include <map>
#include <string>

#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// 16 hexadecimal digits; equal for equal machineTemplate (but for sizes and names of what is launched next),
// bootstrap and providerRef of the pool, and equal template, options, network interfaces, cloud-init and
// overhead of the provider (null: there is none). Where machines are placed and how the provider is reached
// does not shape them.
std::string template_hash(const NodeSmithPool& pool, const NodeSmithProvider* provider);

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
    std::map<api::ObjectKey, Known> known_;  // by pool
};

}  // namespace controllers::claim
