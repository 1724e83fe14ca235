// Lets nothing be written to the API server by a process that may no longer lead. Of two processes that both
// believe they lead, one was stopped or cut off: what it had in mind is out of date.
#pragma once

#include <functional>
#include <memory>

#include "base/http.hpp"

namespace kube {

// A write was held back: the server has not seen it. Only an end of this process, or its lease, goes on from
// here.
class FencedError : public base::TransportError {
public:
    using base::TransportError::TransportError;
};

// Passes on reads, the Lease (it is what leading is decided by) and reviews (they change nothing); everything
// else only while `may_write` says so, and throws FencedError otherwise. Asked before each request, and once
// more when its first byte is about to be written, so that a process which was stopped for a while asks after
// it goes on.
std::unique_ptr<base::HttpTransport> make_write_fence(std::unique_ptr<base::HttpTransport> transport,
                                                      std::function<bool()> may_write);

}  // namespace kube
