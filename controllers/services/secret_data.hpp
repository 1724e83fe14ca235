// Returns a Secret's data in the form that backends use.
#pragma once

#include "api/core.hpp"
#include "providers/host_inventory.hpp"

namespace controllers {

inline providers::SecretData secret_data(const api::Secret& secret) {
    providers::SecretData result;
    for (const auto& [field, bytes] : secret.data) result.data[field] = bytes.value;
    result.version = secret.metadata.name + "@" + secret.metadata.resourceVersion;
    return result;
}

}  // namespace controllers
