// Computes a fingerprint of everything in a pool and its provider that shapes machines. A claim with a
// different fingerprint has drifted.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "controllers/cache/kinds.hpp"

namespace controllers::claim {

// Returns "3-" and 16 hexadecimal digits. It covers the pool's machineTemplate (except sizes and names
// of future launches), bootstrap and providerRef. It also covers the provider's template, options,
// network interfaces, cloud-init and overhead (null: no provider). Placement, access to the provider,
// and labels without effect do not shape machines. Fields with their default are left out, so that
// versions with more fields return the same.
std::string template_hash(const NodeSmithPool& pool, const NodeSmithProvider* provider);

// Reports whether template_hash() computed the value in its present form. Drift
// cannot be judged from another form.
bool is_comparable(std::string_view template_hash);

// TemplateHashes caches hashes, and recomputes only those whose input has changed.
class TemplateHashes {
public:
    const std::string& of(const NodeSmithPool& pool, const NodeSmithProvider* provider);

private:
    struct Known {
        api::v1alpha1::PoolSpec pool;
        api::v1alpha1::ProviderSpec provider;  // default value: no provider
        std::string hash;
    };
    static constexpr std::size_t kMostKnown = 10'000;
    std::map<std::string, Known> known_;  // by the pool's UID
};

}  // namespace controllers::claim
