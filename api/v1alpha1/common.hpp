// Parts shared by our kinds. Defaults here equal the defaults in crds/ (a test compares them), the
// descriptions of the fields are there too: `kubectl explain nodesmithpool.spec`.
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

// The CRDs accept no longer durations. Objects that were stored before they had this bound may have some.
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

// One key of a Secret in the referrer's namespace.
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

// What a machine offers or may use in all.
struct Size {
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    bool operator==(const Size&) const = default;
};

// What is set aside by compare-and-swap before claims are created, so that limits can't be overrun.
struct Reserved {
    std::int64_t nodes = 0;
    std::int64_t cpuCores = 0;
    std::int64_t memoryMiB = 0;
    std::optional<Time> time;  // of the last reservation; it may still be used for a short while after
    bool operator==(const Reserved&) const = default;
};

enum class DeletionPolicy { Delete, Retain, Unrecognized };

/// What a machine or host of this size costs when it is compared with another, in MiB: a core counts as much
/// as 4 GiB.
constexpr std::int64_t cost_in_mib(std::int64_t cpu_cores, std::int64_t memory_mib) {
    constexpr std::int64_t kMiBPerCore = 4096;
    return cpu_cores * kMiBPerCore + memory_mib;
}

}  // namespace api::v1alpha1
