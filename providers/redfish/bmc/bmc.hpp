// Bmc reads and writes Redfish resources with our login, using a session or Basic if the BMC has no sessions.
// Every call must be made during a visit().
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "providers/redfish/bmc/access.hpp"
#include "providers/redfish/bmc/wire.hpp"

namespace providers::redfish {

// Returns a request with the headers that all our requests have.
base::HttpRequest bare_request(std::string method, std::string target);

struct RedfishResource {
    std::string target;
    json::object body;
    std::string etag;  // for If-Match, unmodified; empty: none
};

// AcceptedChange is the answer to a change that was accepted. The change may not be done yet.
struct AcceptedChange {
    json::object body;
    bool is_promise = false;  // 202: it will be done later
    std::string task;         // target of the task that does it; empty: none
    std::optional<base::Duration> retry_after;
};

class Bmc {
public:
    // Throws std::invalid_argument. `traffic` must outlive this.
    Bmc(WireOptions options, Login login, std::shared_ptr<Account> account, std::shared_ptr<Access> access,
        Traffic& traffic);
    // Restores what an earlier process learned about these credentials.
    void remember(bool is_proven, int refusals, std::optional<base::Duration> suspended_for);
    // Allows another try of refused credentials, on request of a person.
    void try_again();
    // Uses Basic from the start, for BMCs with broken sessions.
    void forgo_sessions() { access_->way = Access::Way::basic; }

    asio::awaitable<Wire::Visit> visit() { return wire_.visit(); }
    const Login& login() const { return login_; }
    const std::string& host() const { return wire_.host(); }
    base::Clock& clock() { return wire_.traffic().environment.clock; }

    // Returns the service root, which needs no credentials. It is read once and cached.
    asio::awaitable<json::object> root();
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
    bool has_session() const { return !access_->token.empty() && !access_->session.empty(); }
    // Reports whether other hosts of this BMC use the same session.
    bool shares_session() const { return access_.use_count() > 2; }
    // Masks this text in later error messages. If there are many such texts, the oldest are dropped.
    void hide(std::string text);
    // Ends our session and ignores failures.
    asio::awaitable<void> log_out();

    // Counts a second attempt that an answer required.
    void note_quirk(const std::string& message);
    // Returns the service's names for itself: Vendor, Product and the keys of Oem. Empty before root().
    const std::string& vendor() const { return vendor_; }
    // Reports whether the BMC refused our credentials. Then no request is sent until they change, a person
    // asks for it, or a day has passed.
    bool is_suspended() const;
    // Returns the number of consecutive refusals.
    int refusals() const { return access_->refusals; }

private:
    asio::awaitable<base::HttpResponse> request(std::string tried, base::HttpRequest request, Effect effect);
    asio::awaitable<base::HttpResponse> authorized(const std::string& tried, base::HttpRequest request,
                                                   Effect effect);
    asio::awaitable<void> log_in();
    asio::awaitable<void> open_session(std::string target);
    asio::awaitable<bool> are_sessions_switched_off();
    asio::awaitable<void> reconsider_sessions();
    asio::awaitable<void> replace_session(std::string token);
    asio::awaitable<bool> is_session_good();
    asio::awaitable<std::optional<std::string>> session_service();
    // Reads it with Basic.
    asio::awaitable<base::HttpResponse> read_session_service(std::string target);
    asio::awaitable<bool> is_basic_accepted();
    // Returns the error of a resource that answers 401 to a valid login.
    RedfishError forbidden(const std::string& tried) const;
    asio::awaitable<base::HttpResponse> post_session(std::string target, bool with_context);
    asio::awaitable<void> delete_leaked_sessions(std::string target);
    asio::awaitable<void> delete_if_ours(std::string session);
    asio::awaitable<base::HttpResponse> send_basic(std::string tried, base::HttpRequest request,
                                                   Effect effect);
    base::HttpRequest with_password(base::HttpRequest request) const;
    bool is_basic_a_guess() const;
    void go_without_session();
    json::object object_of(const std::string& tried, const base::HttpResponse& response) const;
    asio::awaitable<RedfishResource> read(const std::string& tried, std::string target);
    asio::awaitable<AcceptedChange> patch_once(const std::string& tried, const std::string& target,
                                               const std::string& body, const std::string& etag);
    std::string resolve(const std::string& tried, const std::string& link) const;
    void authorize(base::HttpRequest& request) const;
    void mask(std::string& text) const;
    Complaint complain(const base::HttpResponse& response) const;
    asio::awaitable<base::HttpResponse> authorized_in_turn(const std::string& tried,
                                                           base::HttpRequest request, Effect effect);
    void prove();
    void note_login();
    // Called before user and password are sent. Throws during the account's pause.
    void spare_account(const std::string& tried);
    asio::awaitable<void> note_refusal(std::string tried);
    [[noreturn]] void suspend(const std::string& tried);
    [[noreturn]] void doubt(const std::string& tried);
    void note_expired_password(const Complaint& complaint);
    [[noreturn]] void rest_until_password_changes(const std::string& tried);

    Wire wire_;
    Login login_;
    std::shared_ptr<Account> account_;
    std::shared_ptr<Access> access_;
    std::deque<std::string> hidden_;
    bool asks_root_for_identity_ = true;
    std::set<std::string> only_compressed_;  // targets that are only served compressed
    std::optional<json::object> root_;
    std::string vendor_;
};

}  // namespace providers::redfish
