// Parts shared by our kinds. The defaults here equal those in crds/ (a test compares them). The CRDs also
// describe the fields: `kubectl explain nodesmithpool.spec`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/meta.hpp"
#include "api/names.hpp"
#include "api/node.hpp"
#include "api/quantity.hpp"
#include "api/time.hpp"

namespace api::v1alpha1 {

// Limit of durations in the CRDs. Objects that were stored before this limit may exceed it.
inline constexpr Duration kLongestDuration = std::chrono::hours{87'600};

constexpr Resource resource(std::string_view plural, std::string_view kind) {
    return {kGroup, kVersion, plural, kind, true};
}

// namespace_ is kept for manifests of the Go project; only the referrer's own namespace is accepted.
struct SecretReference {
    std::string name;
    std::string namespace_;
    bool operator==(const SecretReference&) const = default;
};

// SecretKeyReference is one key of a Secret in the referrer's namespace.
struct SecretKeyReference {
    std::string name;
    std::string key;
    bool operator==(const SecretKeyReference&) const = default;
};

struct TlsConfig {
    std::string caBundle;           // PEM
    std::string fingerprintSHA256;  // of the server's certificate: 32 hex pairs with colons
    bool insecureSkipVerify = false;
    bool operator==(const TlsConfig&) const = default;
};

// Size is what a machine offers, or may use in total.
struct Size {
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    bool operator==(const Size&) const = default;
};

// Reserved is capacity reserved by compare-and-swap before claims are created, so that no limit is exceeded.
struct Reserved {
    std::int64_t nodes = 0;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    std::optional<Time> time;  // of the last reservation; it may still be used for a short time
    bool operator==(const Reserved&) const = default;
};

enum class DeletionPolicy { Delete, Retain, Unrecognized };

// Returns the cost of a machine or host in MiB, for comparisons: a core counts as much as 4 GiB.
constexpr std::int64_t cost_in_mib(std::int64_t cpu_cores, std::int64_t memory_mib) {
    constexpr std::int64_t kMiBPerCore = 4096;
    return cpu_cores * kMiBPerCore + memory_mib;
}

}  // namespace api::v1alpha1
