#include "test/simulators/redfish/bmc.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/bytes.hpp"

namespace redfish_simulator {

namespace {

constexpr const char* kRoot = "/redfish/v1";

std::string text(const json::object& body, std::string_view name) {
    const auto* value = body.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string without_slash(std::string target) {
    target = target.substr(0, target.find('?'));
    while (target.size() > 1 && target.back() == '/') target.pop_back();
    return target;
}

}  // namespace

Bmc::Bmc(Profile profile, base::Clock& clock)
    : profile_(std::move(profile)), clock_(clock), started_(clock.now()), off_since_(clock.now()) {}

std::size_t Bmc::count(const std::string& method, const std::string& part) const {
    return static_cast<std::size_t>(std::count_if(
        exchanges_.begin(), exchanges_.end(),
        [&](const Exchange& e) { return e.method == method && e.target.find(part) != std::string::npos; }));
}

void Bmc::leak_session(const std::string& context) {
    const auto target = std::string(kRoot) + "/SessionService/Sessions/" + std::to_string(++serial_);
    sessions_[target] = {"leaked-" + std::to_string(serial_), context, now()};
}

base::HttpResponse Bmc::handle(const base::HttpRequest& request) {
    settle();
    auto response = dispatch(request, request.target);
    if (keeps_exchanges_)
        exchanges_.push_back({request.method, request.target, request.body, response.status});
    return response;
}

Bmc::Response Bmc::dispatch(const base::HttpRequest& request, std::string target) {
    const bool has_slash = target.size() > 1 && target.back() == '/';
    const auto path = without_slash(target);
    if (!path.starts_with(kRoot)) return error(404, "ResourceMissingAtURI", "no such resource");
    const auto encoding = request.headers.find("Accept-Encoding");
    if (profile_.refuses_identity && encoding && *encoding == "identity")
        return error(406, "GeneralError", "identity is not served");
    const bool not_ready = now() - started_ < profile_.not_ready_until;
    if (not_ready && profile_.not_ready_is_400)
        return error(400, "SWC0700", "iDRAC is not ready. Retry in 2 seconds");
    if (not_ready) {
        auto response = error(503, "SYS518", "data sources are unavailable");
        response.headers.set("Retry-After", "2");
        return response;
    }
    if (const auto refusal = refuse_stranger(request, path)) return *refusal;
    if (!has_slash && path != kRoot && request.method == "GET") {
        if (profile_.redirects_slash) {
            auto response = empty(308);
            response.headers.set("Location", path + "/");
            return response;
        }
        if (profile_.wants_trailing_slash) return error(404, "ResourceMissingAtURI", "no such resource");
    }
    if (request.method == "GET") return get(request.target);
    if (request.method == "DELETE") return delete_session(path);
    boost::system::error_code failure;
    const auto body = json::parse(request.body, failure);
    const bool is_object = !failure && body.is_object();
    if (!request.body.empty() && !is_object) return error(400, "MalformedJSON", "the body is no JSON object");
    const auto object = is_object ? body.get_object() : json::object();
    if (request.method == "POST") return post(path, object, is_object);
    if (request.method == "PATCH") return patch(request, path, object);
    return error(405, "OperationNotAllowed", "no such method");
}

// DSP0266 opens the service root and the login to everybody.
std::optional<Bmc::Response> Bmc::refuse_stranger(const base::HttpRequest& request,
                                                  const std::string& target) {
    const bool is_login = request.method == "POST" && target.ends_with("/SessionService/Sessions");
    if (target == kRoot || is_login) return std::nullopt;
    if (const auto token = request.headers.find("X-Auth-Token")) {
        for (auto& [session_target, session] : sessions_) {
            if (session.token != *token) continue;
            if (now() - session.used > profile_.session_timeout) break;
            session.used = now();
            return std::nullopt;
        }
        return error(401, "NoValidSession", "there is no such session");
    }
    const auto header = request.headers.find("Authorization");
    if (!header) return error(401, "NoValidSession", "authentication is needed");
    const auto right = "Basic " + api::Bytes{profile_.username + ":" + profile_.password}.str();
    if (is_locked_out()) return error(401, "AccountLocked", "the account is locked");
    if (*header != right) {
        ++wrong_passwords_;
        return error(401, "NoValidSession", "wrong user name or password");
    }
    if (profile_.lost_credentials > 0) {
        --profile_.lost_credentials;
        return error(401, "NoValidSession", "wrong user name or password");
    }
    return std::nullopt;
}

Bmc::Response Bmc::create_session(const json::object& body) {
    if (!profile_.has_sessions) return error(404, "ResourceMissingAtURI", "no such resource");
    for (const auto& [name, value] : body) {
        const bool known =
            name == "UserName" || name == "Password" || (name == "Context" && profile_.knows_context);
        if (!known) return error(400, "PropertyUnknown", "unknown property " + std::string(name));
    }
    if (text(body, "UserName") != profile_.username || text(body, "Password") != profile_.password ||
        is_locked_out()) {
        ++wrong_passwords_;
        return error(401, "NoValidSession", "wrong user name or password");
    }
    std::erase_if(sessions_,
                  [&](const auto& entry) { return now() - entry.second.used > profile_.session_timeout; });
    if (sessions_.size() >= profile_.session_limit) {
        if (profile_.full_is_rac0218)
            return error(503, "RAC0218", "The maximum number of user sessions is reached.");
        return error(503, "SessionLimitExceeded", "the session limit is reached");
    }
    const auto target = std::string(kRoot) + "/SessionService/Sessions/" + std::to_string(++serial_);
    sessions_[target] = {"token-" + std::to_string(serial_), text(body, "Context"), now()};
    json::object session;
    session["@odata.id"] = target;
    session["Id"] = std::to_string(serial_);
    auto response = answer(201, std::move(session));
    response.headers.set("X-Auth-Token", sessions_[target].token);
    response.headers.set("Location", location(target));
    return response;
}

Bmc::Response Bmc::delete_session(const std::string& target) {
    return sessions_.erase(target) > 0 ? empty(204) : error(404, "ResourceMissingAtURI", "no such session");
}

Bmc::Response Bmc::get(const std::string& target) {
    const auto path = without_slash(target);
    if (path.starts_with(std::string(kRoot) + "/TaskService/Tasks/")) return task(path);
    auto found = document(target);
    if (!found) return error(404, "ResourceMissingAtURI", "no such resource");
    const auto etag = etag_of(path);
    const bool shows_tag = profile_.has_etags && !profile_.hides_tags;
    // A weak header comes from a proxy, so the body does not show it.
    if (shows_tag && !profile_.weak_header) (*found)["@odata.etag"] = etag;
    auto response = answer(200, std::move(*found));
    if (shows_tag) response.headers.set("ETag", profile_.weak_header ? "W/" + etag : etag);
    return response;
}

Bmc::Response Bmc::post(const std::string& target, const json::object& body, bool has_body) {
    if (target.ends_with("/SessionService/Sessions")) return create_session(body);
    if (target.ends_with("/Actions/ComputerSystem.Reset")) return reset(body);
    const auto action = target.find("/Actions/");
    if (action == std::string::npos) return error(405, "OperationNotAllowed", "no such action");
    if (target.ends_with("/Actions/Drive.SecureErase")) return erase(target.substr(0, action));
    const auto* slot = slot_of(target.substr(0, action));
    if (slot && target.ends_with(".InsertMedia")) return insert(slot->id, body);
    if (slot && target.ends_with(".EjectMedia")) return eject(slot->id, has_body);
    return error(404, "ResourceMissingAtURI", "no such action");
}

Bmc::Response Bmc::patch(const base::HttpRequest& request, const std::string& target,
                         const json::object& body) {
    const auto etag = etag_of(target);
    const auto given = request.headers.find("If-Match");
    if (profile_.demands_tag && !given) return error(428, "PreconditionRequired", "If-Match is needed");
    const bool wrong = given && *given != "*" && *given != etag && profile_.has_etags;
    const bool is_blind = profile_.ignores_tags_version && body.contains("AssetTag");
    if (!is_blind && (wrong || (given && profile_.refuses_tags)))
        return error(412, "PreconditionFailed", "the ETag does not match");
    if (body.contains("Boot")) {
        const bool on_settings = target.ends_with("/Settings");
        return patch_boot(body.at("Boot").is_object() ? body.at("Boot").get_object() : json::object(),
                          on_settings);
    }
    if (body.contains("AssetTag")) return patch_tag(target, body);
    if (const auto* slot = slot_of(target)) return patch_media(slot->id, body);
    return error(400, "PropertyUnknown", "nothing here can be changed");
}

Bmc::Response Bmc::answer(int status, json::object body) const {
    Response response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    response.body = json::serialize(body);
    return response;
}

Bmc::Response Bmc::error(int status, const std::string& id, const std::string& message) const {
    json::object info;
    info["MessageId"] = profile_.vendor == "Dell" ? "IDRAC.2.8." + id : "Base.1.18." + id;
    info["Message"] = message;
    json::object inner;
    inner["code"] = "Base.1.18.GeneralError";
    inner["message"] = "A general error has occurred. See ExtendedInfo for more information.";
    if (profile_.error_is_object) {
        inner["@Message.ExtendedInfo"] = std::move(info);
    } else {
        inner["@Message.ExtendedInfo"] = json::array{std::move(info)};
    }
    json::object body;
    body["error"] = std::move(inner);
    return answer(status, std::move(body));
}

Bmc::Response Bmc::empty(int status) {
    Response response;
    response.status = status;
    return response;
}

std::string Bmc::location(const std::string& path) const {
    return profile_.absolute_links ? "https://bmc.internal" + path : path;
}

}  // namespace redfish_simulator
