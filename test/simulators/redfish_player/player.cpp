#include "test/simulators/redfish_player/player.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "api/bytes.hpp"

namespace redfish_player {

namespace {

constexpr std::string_view kRoot = "/redfish/v1";
// Suffix of the names of sessions that were opened while the tree was played.
constexpr std::string_view kOurs = "-played";

std::string text_at(const json::object& parent, std::string_view name) {
    const auto* value = parent.if_contains(name);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

json::object* object_at(json::object& parent, std::string_view name) {
    auto* value = parent.if_contains(name);
    return value && value->is_object() ? &value->get_object() : nullptr;
}

base::HttpResponse answer(int status, const json::object& body) {
    base::HttpResponse response;
    response.status = status;
    response.headers.set("Content-Type", "application/json");
    response.headers.set("OData-Version", "4.0");
    response.body = json::serialize(body);
    return response;
}

base::HttpResponse no_content() {
    base::HttpResponse response;
    response.status = 204;
    response.headers.set("OData-Version", "4.0");
    return response;
}

// Changes only properties that the document has; its annotations stay.
void merge(json::object& document, const json::object& body) {
    for (const auto& [name, value] : body) {
        auto* present = document.if_contains(name);
        if (present && present->is_object() && value.is_object()) {
            merge(present->get_object(), value.get_object());
        } else {
            document[name] = value;
        }
    }
}

bool is_media(const json::object& document) {
    return text_at(document, "@odata.type").starts_with("#VirtualMedia.");
}

}  // namespace

Player::Player(Tree tree, PlayerOptions options, base::Clock& clock)
    : tree_(std::move(tree)), options_(std::move(options)), clock_(clock) {}

base::HttpResponse Player::handle(const base::HttpRequest& request) {
    settle();
    refusal_.reset();
    auto response = dispatch(request, key_of(request.target));
    if (request.method != "GET") {
        Exchange exchange{request.method, request.target, request.body, response.status, {}, false};
        if (refusal_) {
            exchange.refused = refusal_->id;
            exchange.is_forbidden = refusal_->is_forbidden;
        }
        exchanges_.push_back(std::move(exchange));
    }
    return response;
}

Player::Response Player::dispatch(const base::HttpRequest& request, const std::string& key) {
    const bool is_login = request.method == "POST" && key == tree_.sessions();
    const bool is_public = request.method == "GET" && (key == kRoot || key == "/redfish");
    if (!is_login && !is_public && !is_known(request))
        return refuse({401, "NoValidSession", "There is no valid session established.", false});
    if (request.method == "GET") return get(key);
    if (request.method == "DELETE") return remove(key);
    const bool writes = request.method == "POST" || request.method == "PATCH";
    if (!writes) return refuse({405, "OperationNotAllowed", "The operation is not allowed.", false});
    boost::system::error_code failure;
    const auto body = json::parse(request.body, failure);
    if (failure || !body.is_object())
        return refuse({400, "MalformedJSON", "The request body is not valid JSON.", false});
    if (request.method == "POST") return post(key, body.get_object());
    return patch(request, key, body.get_object());
}

bool Player::is_known(const base::HttpRequest& request) const {
    if (const auto token = request.headers.find("X-Auth-Token")) {
        return std::ranges::any_of(tokens_, [&](const auto& entry) { return entry.second == *token; });
    }
    const auto header = request.headers.find("Authorization");
    return header && *header == "Basic " + api::Bytes{options_.username + ":" + options_.password}.str();
}

Player::Response Player::get(const std::string& key) {
    if (key == "/redfish") return answer(200, json::object{{"v1", "/redfish/v1/"}});
    const auto* document = tree_.find(key);
    if (!document)
        return refuse({404, "ResourceMissingAtURI", "The resource at " + key + " was not found.", false});
    auto response = answer(200, *document);
    if (const auto tag = text_at(*document, "@odata.etag"); !tag.empty()) response.headers.set("ETag", tag);
    return response;
}

Player::Response Player::patch(const base::HttpRequest& request, const std::string& key,
                               const json::object& body) {
    auto* document = tree_.find(key);
    if (!document)
        return refuse({404, "ResourceMissingAtURI", "The resource at " + key + " was not found.", false});
    const auto tag = text_at(*document, "@odata.etag");
    const auto given = request.headers.find("If-Match");
    if (given && !tag.empty() && *given != "*" && *given != tag)
        return refuse({412, "PreconditionFailed", "The ETag supplied did not match.", false});
    auto* actions = object_at(*document, "Actions");
    if (is_media(*document) && actions && actions->contains("#VirtualMedia.EjectMedia"))
        return refuse({405, "OperationNotAllowed", "Virtual media are changed by actions.", false});
    const bool changes_something =
        document->contains("Boot") || is_media(*document) || document->contains("AssetTag");
    if (!changes_something)
        return refuse({405, "OperationNotAllowed", "The operation is not allowed.", false});
    if (auto refusal = refuse_change(*document, body)) return refuse(std::move(*refusal));
    merge(*document, body);
    if (is_media(*document) && document->contains("ConnectedVia"))
        (*document)["ConnectedVia"] = text_at(*document, "Image").empty() ? "NotConnected" : "URI";
    changed(key);
    return no_content();
}

Player::Response Player::post(const std::string& key, const json::object& body) {
    if (key == tree_.sessions()) return log_in(body);
    const auto action = tree_.action(key);
    if (action) return act(*action, body);
    if (tree_.find(key)) return refuse({405, "OperationNotAllowed", "The operation is not allowed.", false});
    return refuse({404, "ResourceMissingAtURI", "The resource at " + key + " was not found.", false});
}

Player::Response Player::remove(const std::string& key) {
    const auto session = tokens_.find(key);
    if (session == tokens_.end())
        return refuse({405, "OperationNotAllowed", "Only sessions of ours can be deleted.", false});
    tokens_.erase(session);
    tree_.erase(key);
    list_sessions();
    return no_content();
}

// The recorded sessions stay, because they belong to others.
void Player::list_sessions() {
    auto* collection = tree_.find(tree_.sessions());
    if (!collection) return;
    json::array members;
    if (const auto* before = collection->if_contains("Members"); before && before->is_array()) {
        for (const auto& member : before->get_array()) {
            const auto path = member.is_object() ? text_at(member.get_object(), "@odata.id") : std::string();
            if (!path.ends_with(kOurs)) members.push_back(member);
        }
    }
    for (const auto& [key, token] : tokens_) {
        if (const auto* session = tree_.find(key))
            members.push_back(json::object{{"@odata.id", text_at(*session, "@odata.id")}});
    }
    (*collection)["Members@odata.count"] = members.size();
    (*collection)["Members"] = std::move(members);
}

Player::Response Player::log_in(const json::object& body) {
    for (const auto& [name, value] : body) {
        if (name != "UserName" && name != "Password" && name != "Context")
            return refuse(
                {400, "PropertyUnknown", "The property " + std::string(name) + " is not known.", false});
    }
    if (text_at(body, "UserName") != options_.username || text_at(body, "Password") != options_.password)
        return refuse({401, "NoValidSession", "Wrong user name or password.", false});
    const auto id = std::to_string(++serial_) + std::string(kOurs);
    auto path = tree_.sessions() + "/" + id;
    if (const auto* collection = tree_.find(tree_.sessions()))
        path = text_at(*collection, "@odata.id") + "/" + id;
    json::object session{{"@odata.id", path},
                         {"@odata.type", "#Session.v1_5_0.Session"},
                         {"Id", id},
                         {"Name", "Session " + id},
                         {"UserName", options_.username}};
    if (body.contains("Context")) session["Context"] = body.at("Context");
    tokens_[key_of(path)] = "token-" + id;
    tree_.put(path, session);
    list_sessions();
    auto response = answer(201, session);
    response.headers.set("X-Auth-Token", "token-" + id);
    response.headers.set("Location", path);
    return response;
}

Player::Response Player::refuse(Refusal refusal) {
    json::object info{{"MessageId", "Base.1.18." + refusal.id}, {"Message", refusal.message}};
    json::object error{{"code", "Base.1.18." + refusal.id},
                       {"message", refusal.message},
                       {"@Message.ExtendedInfo", json::array{std::move(info)}}};
    auto response = answer(refusal.status, json::object{{"error", std::move(error)}});
    refusal_ = std::move(refusal);
    return response;
}

// Changes the ETag of a document, so that earlier readers have an old one.
void Player::changed(const std::string& key) {
    auto* document = tree_.find(key);
    if (document && document->contains("@odata.etag"))
        (*document)["@odata.etag"] = "\"changed-" + std::to_string(++serial_) + "\"";
}

}  // namespace redfish_player
