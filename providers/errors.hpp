// What backends throw.
#pragma once

#include <stdexcept>

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

}  // namespace providers
