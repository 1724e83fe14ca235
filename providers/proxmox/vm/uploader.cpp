#include "providers/proxmox/vm/uploader.hpp"

#include "base/log.hpp"

namespace providers::proxmox {

namespace {

ProxmoxError with_advice(const ProxmoxError& error, const Call& call) {
    const auto advice =
        " (sent through another host, which copies it by ssh; with Sys.Audit on / and access to port 8006 "
        "of " +
        call.host + " it is sent there directly)";
    ProxmoxError result(error.kind, call.tried, error.message + advice);
    result.operation = call.operation;
    result.is_of_change = error.is_of_change;
    return result;
}

}  // namespace

// Returns the host's own address if known. A failure here must not prevent the creation of a machine.
asio::awaitable<std::optional<HostAddress>> Uploader::address_of(std::string host) {
    try {
        co_return co_await addresses_.of(std::move(host));
    } catch (const ProxmoxError& error) {
        base::log::debug("Cannot tell where a host's own API answers", {{"error", error.what()}});
    }
    co_return std::nullopt;
}

asio::awaitable<json::value> Uploader::upload(Call call) {
    const auto address = co_await address_of(call.host);
    if (address) {
        try {
            co_return co_await client_.change_at(*address, call);
        } catch (const ProxmoxError& error) {
            if (error.kind != ErrorKind::unreachable) throw;
            base::log::info("A host's own API cannot be used: uploads to it go through the endpoint",
                            {{"host", call.host}, {"url", address->url}, {"error", error.what()}});
        }
        addresses_.avoid(call.host);
    }
    const auto turn = co_await through_endpoint_.enter("");
    try {
        co_return co_await client_.change(call);
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::outcome_unknown) throw;
        throw with_advice(error, call);
    }
}

}  // namespace providers::proxmox
