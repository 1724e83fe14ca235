// What backends throw.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "providers/backend_cluster.hpp"

namespace providers {

// Failure of the backend that is no expected outcome; `what()` says what was tried, on what, what came back.
class ProviderError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};
// The credentials Secret lacks a key or holds one that cannot be right; what() names it, never its value.
class CredentialsError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};
// A mutating request was not started because this process may no longer be the leader.
class FencedError : public ProviderError {
public:
    using ProviderError::ProviderError;
};

// The endpoint belongs to another cluster than the one that the provider's machines are on: nothing that it
// says concerns them, and nothing may be changed there.
class OtherClusterError : public ProviderError {
public:
    OtherClusterError(const std::string& what, BackendCluster seen)
        : ProviderError(what), cluster(std::move(seen)) {}

    BackendCluster cluster;  // the one that answers
};

}  // namespace providers
