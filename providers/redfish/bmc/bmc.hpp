// A BMC that knows us: reads and writes Redfish resources with a session, or with Basic where there are no
// sessions. Every call is made during a visit().
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

// With the headers that every request of ours has.
base::HttpRequest bare_request(std::string method, std::string target);

struct Resource {
    std::string target;
    json::object body;
    std::string etag;  // for If-Match, as the BMC wrote it; empty: it has none
};

// The answer to a change that was not refused. It was accepted, which is not done.
struct Answer {
    json::object body;
    bool is_promise = false;  // 202: it will be done later
    std::string task;         // target of the task that will do it; empty: there is none
    std::optional<base::Duration> retry_after;
};

class Bmc {
public:
    // Throws std::invalid_argument. `traffic` must outlive this.
    Bmc(WireOptions options, Login login, std::shared_ptr<Account> account, std::shared_ptr<Access> access,
        Traffic& traffic);
    // What an earlier process was told of these credentials.
    void remember(bool is_proven, int refusals, std::optional<base::Duration> suspended_for);
    // A person wants credentials that were refused to be tried once more.
    void try_again();
    // Basic from the start: for BMCs whose sessions are broken.
    void forgo_sessions() { access_->way = Access::Way::basic; }

    asio::awaitable<Wire::Visit> visit() { return wire_.visit(); }
    const Login& login() const { return login_; }
    const std::string& host() const { return wire_.host(); }
    base::Clock& clock() { return wire_.traffic().environment.clock; }

    // The service root needs no credentials; read once and kept.
    asio::awaitable<json::object> root();
    // Reads are tried three times. All throw RedfishError, FencedError.
    asio::awaitable<Resource> get(std::string link);
    // nullopt: there is none (404), or this BMC does not serve it (405, 501, and 500 of emulators).
    asio::awaitable<std::optional<Resource>> find(std::string link);
    // Once, of what nothing depends on: a BMC that answers nothing costs one timeout.
    asio::awaitable<Resource> get_once(std::string link);
    // Writes with the ETag of a fresh read; a refusal for the tag is answered with what BMCs accept instead:
    // a strong tag, then none; `*` where one is demanded but none is known.
    asio::awaitable<Answer> patch(std::string tried, std::string link, json::object body);
    // Writes a text property only if it still is what `read` shows: with its ETag, where the BMC knows what
    // that is. nullopt: somebody else was first. BMCs without working ETags leave that open: read it back.
    asio::awaitable<std::optional<Answer>> patch_if_same(std::string tried, Resource read,
                                                         std::string property, json::value value);
    // Sent once. A RedfishError of kind outcome_unknown means that it may have been done.
    asio::awaitable<Answer> post(std::string tried, std::string link, json::object body);
    // Asks once how a task is: HTTP status and body, 202 included.
    asio::awaitable<std::pair<int, json::object>> poll(std::string link);
    // The functions of these names, without what is hidden.
    std::string refusal_in(const json::object& body) const;
    std::string words_of_task(const json::object& task) const;
    bool has_session() const { return !access_->token.empty() && !access_->session.empty(); }
    // Other hosts of this BMC use the same session.
    bool shares_session() const { return access_.use_count() > 2; }
    // From now on error messages leave this text out. Of many such texts the last ones count.
    void hide(std::string text);
    // Ends our session; failures are of no interest.
    asio::awaitable<void> log_out();

    // Counts a second attempt after an answer that called for it.
    void note_quirk(const std::string& message);
    // How the service calls itself: Vendor, Product and the keys of Oem; empty before root().
    const std::string& vendor() const { return vendor_; }
    // The BMC refused our credentials: nothing more is sent until they change, a person asks for it, or a day
    // has passed.
    bool is_suspended() const;
    // How often it refused them in a row.
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
    asio::awaitable<base::HttpResponse> post_session(std::string target, bool with_context);
    asio::awaitable<void> delete_leaked_sessions(std::string target);
    asio::awaitable<void> delete_if_ours(std::string session);
    asio::awaitable<base::HttpResponse> send_basic(std::string tried, base::HttpRequest request,
                                                   Effect effect);
    base::HttpRequest with_password(base::HttpRequest request) const;
    bool is_basic_a_guess() const;
    void go_without_session();
    json::object object_of(const std::string& tried, const base::HttpResponse& response) const;
    asio::awaitable<Resource> read(const std::string& tried, std::string target);
    asio::awaitable<Answer> patch_once(const std::string& tried, const std::string& target,
                                       const std::string& body, const std::string& etag);
    std::string resolve(const std::string& tried, const std::string& link) const;
    void authorize(base::HttpRequest& request) const;
    void mask(std::string& text) const;
    Complaint complain(const base::HttpResponse& response) const;
    asio::awaitable<base::HttpResponse> authorized_in_turn(const std::string& tried,
                                                           base::HttpRequest request, Effect effect);
    void prove();
    void note_login();
    // Before user and password are sent. Throws while the account rests.
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
    std::set<std::string> only_compressed_;  // targets that are not served as they are
    std::optional<json::object> root_;
    std::string vendor_;
};

}  // namespace providers::redfish
