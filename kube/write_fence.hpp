// Prevents writes to the API server by a process that may no longer lead. If two processes believe that they
// lead, one of them was stopped or cut off, and its decisions are outdated.
#pragma once

#include <functional>
#include <memory>

#include "base/http.hpp"

namespace kube {

// FencedWriteError means that a write was not sent. This process must end or regain its lease.
class FencedWriteError : public base::TransportError {
public:
    using base::TransportError::TransportError;
};

// Returns a transport that passes reads, the Lease (which decides who leads) and reviews (which change
// nothing). It passes other requests only while `may_write` returns true, and throws FencedWriteError
// otherwise. It asks before each request, and again when its first byte is about to be written. So a process
// that was stopped asks after it continues.
std::unique_ptr<base::HttpTransport> make_write_fence(std::unique_ptr<base::HttpTransport> transport,
                                                      std::function<bool()> may_write);

}  // namespace kube
