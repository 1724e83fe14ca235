// Looking at the hosts of a backend of bare metal, one by one.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "providers/host_report.hpp"

namespace providers {

class HostExaminer {
public:
    HostExaminer() = default;
    HostExaminer(const HostExaminer&) = delete;
    HostExaminer& operator=(const HostExaminer&) = delete;
    virtual ~HostExaminer() = default;

    // Looks at one NodeSmithHost through its BMC. Never throws ProviderError: what is wrong is in the report.
    virtual boost::asio::awaitable<HostReport> examine_host(std::string host) = 0;
};

}  // namespace providers
