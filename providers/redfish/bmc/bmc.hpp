// Bmc reads and writes Redfish resources with our login. Every call must be made during a visit().
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "providers/redfish/bmc/bmc_access.hpp"

namespace providers::redfish {

struct RedfishResource {
    std::string target;
    json::object body;
    std::string etag;  // for If-Match, unmodified; empty: none
};

// AcceptedChange is the answer to a change that was accepted. The change may not be done yet.
struct AcceptedChange {
    json::object body;
    bool is_promise = false;  // it will be done later
    std::string task;         // target of the task that does it; empty: none
    std::optional<base::Duration> retry_after;
};

class Bmc {
public:
    // Throws std::invalid_argument. `traffic` must outlive this.
    Bmc(WireOptions options, Login login, std::shared_ptr<Account> account, std::shared_ptr<Access> access,
        Traffic& traffic)
        : access_(std::move(options), std::move(login), std::move(account), std::move(access), traffic) {}

    // Returns our login there, its sessions and what is known of its credentials.
    BmcAccess& access() { return access_; }
    const BmcAccess& access() const { return access_; }
    asio::awaitable<Wire::Visit> visit() { return access_.wire().visit(); }
    const std::string& host() const { return access_.host(); }
    base::Clock& clock() { return access_.clock(); }
    // These do the same as those of access().
    asio::awaitable<json::object> root() { return access_.root(); }
    void hide(std::string text) { access_.hide(std::move(text)); }
    void note_quirk(const std::string& message) { access_.note_quirk(message); }
    const std::string& vendor() const { return access_.vendor(); }

    // Reads a resource with up to three attempts. All calls throw RedfishError, FencedError.
    asio::awaitable<RedfishResource> get(std::string link);
    // Returns nullopt if it does not exist (404) or the BMC does not serve it (405, 501, and 500 of
    // emulators).
    asio::awaitable<std::optional<RedfishResource>> find(std::string link);
    // Reads an unimportant resource with one attempt. A silent BMC then costs one timeout.
    asio::awaitable<RedfishResource> get_once(std::string link);
    // Writes with the ETag of a fresh read. If the BMC refuses the tag, it tries what BMCs accept instead: a
    // strong tag, then none, and `*` if a tag is required but unknown.
    asio::awaitable<AcceptedChange> patch(std::string tried, std::string link, json::object body);
    // Writes a text property only if it still is as in `read`, using its ETag. nullopt: somebody else changed
    // it first. BMCs without working ETags do not ensure this: read it back.
    asio::awaitable<std::optional<AcceptedChange>> patch_if_same(std::string tried, RedfishResource read,
                                                                 std::string property, json::value value);
    // Sends once. A RedfishError of kind outcome_unknown means that it may have been done.
    asio::awaitable<AcceptedChange> post(std::string tried, std::string link, json::object body);
    // Polls a task once. Returns HTTP status and body, 202 included.
    asio::awaitable<std::pair<int, json::object>> poll(std::string link);
    // These call the functions of the same names and mask hidden texts.
    std::string refusal_in(const json::object& body) const;
    std::string words_of_task(const json::object& task) const;

private:
    asio::awaitable<base::HttpResponse> request(std::string tried, base::HttpRequest request, Effect effect);
    asio::awaitable<RedfishResource> read(const std::string& tried, std::string target);
    asio::awaitable<AcceptedChange> patch_once(const std::string& tried, const std::string& target,
                                               const std::string& body, const std::string& etag);
    std::string resolve(const std::string& tried, const std::string& link) const;
    // Parses the answer to a change. Throws RedfishError if it refuses the change.
    AcceptedChange accepted(const std::string& tried, const base::HttpResponse& response) const;

    BmcAccess access_;
    std::set<std::string> only_compressed_;  // targets that are only served compressed
};

}  // namespace providers::redfish
