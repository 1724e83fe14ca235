// Exceptions that backends throw.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "providers/backend_cluster.hpp"

namespace providers {

// ProviderError is an unexpected failure of the backend. Its what() names the attempt, its object and the
// answer.
class ProviderError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
// CredentialsError means that a key of the credentials Secret is missing or cannot be right. Its what() names
// the key, never the value.
class CredentialsError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};
// FencedError means that a mutating request was not sent, as this process may have lost the lease.
class FencedError : public ProviderError {
public:
    using ProviderError::ProviderError;
};

// OtherClusterError means that the endpoint belongs to another cluster than the provider's machines. Its
// answers say nothing about these machines, and the operator must not change anything there.
class OtherClusterError : public ProviderError {
public:
    OtherClusterError(const std::string& what, BackendCluster seen)
        : ProviderError(what), cluster(std::move(seen)) {}

    BackendCluster cluster;  // the cluster that answers
};

}  // namespace providers
