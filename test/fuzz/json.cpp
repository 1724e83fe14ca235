// Fuzzes the parsers of the API server's answers and of files with our credentials. The text and its parsed
// document must decode alike.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <vector>

#include "api/core.hpp"
#include "api/stream.hpp"
#include "api/type.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/pool.hpp"
#include "bootstrap/token.hpp"
#include "kube/client.hpp"
#include "kube/credentials.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {
namespace {

template <class T>
std::optional<T> by_stream(std::string_view input) {
    try {
        return api::decode_text<T>(input);
    } catch (const api::DecodeError&) {
    } catch (const api::ParseError&) {
    }
    return std::nullopt;
}

template <class T>
std::optional<T> by_document(std::string_view input) {
    boost::system::error_code error;
    auto document = boost::json::parse(input, error);
    if (error) return std::nullopt;
    try {
        return api::decode<T>(document);
    } catch (const api::DecodeError&) {
        return std::nullopt;
    }
}

// Reports whether the value holds a name that only a newer Kubernetes knows. Encoding leaves such names out.
bool holds_unrecognized(const api::Type& type, const void* value) {
    if (type.shape == api::Shape::Enum) return type.unrecognized == type.get_enum(value);
    if (type.shape == api::Shape::Object)
        return std::ranges::any_of(type.fields, [value](const api::FieldDescriptor& field) {
            return holds_unrecognized(*field.type, api::member(value, field));
        });
    struct Search {
        const api::Type* element;
        bool found = false;
    } search{type.element};
    if (type.element)
        type.each(value, &search, [](void* context, std::string_view, const void* element) {
            auto& own = *static_cast<Search*>(context);
            own.found = own.found || holds_unrecognized(*own.element, element);
        });
    return search.found;
}

// Checks that both decoders agree. They may differ only if an object holds a key twice (api/stream.hpp).
template <class T>
void agree(std::string_view input) {
    auto streamed = by_stream<T>(input);
    auto parsed = by_document<T>(input);
    check(streamed.has_value() == parsed.has_value(), "text and document are accepted alike");
    if (!parsed) return;
    if (holds_unrecognized(api::type_of<T>(), &*parsed)) return;
    auto text = boost::json::serialize(api::encode(*parsed));
    check(by_document<T>(text) == parsed, "encoding and decoding gives the same object");
    check(by_stream<T>(text) == parsed, "text reads as what was encoded");
}

// Decodes a list that arrives in pieces of the given size.
std::optional<std::vector<api::Node>> list_of_nodes(std::string_view input, std::size_t piece) {
    std::vector<api::Node> nodes;
    try {
        api::ListDecoder<api::Node> list([&nodes](api::Node&& node) { nodes.push_back(std::move(node)); });
        for (std::size_t at = 0; at < input.size(); at += piece) list.write(input.substr(at, piece));
        list.finish();
        return nodes;
    } catch (const api::DecodeError&) {
    } catch (const api::ParseError&) {
    }
    return std::nullopt;
}

}  // namespace

void json(std::string_view input) {
    agree<api::Pod>(input);
    agree<api::Node>(input);
    agree<api::PodDisruptionBudget>(input);
    agree<api::v1alpha1::NodeSmithPool>(input);
    agree<api::v1alpha1::NodeSmithClaim>(input);
    try {
        api::decode_watch_event<api::Pod>(input);
    } catch (const api::DecodeError&) {
    } catch (const api::ParseError&) {
    }
    auto whole = list_of_nodes(input, input.size());
    for (const auto piece : {std::size_t{1}, std::size_t{7}}) {
        check(list_of_nodes(input, piece) == whole, "a list in pieces reads as the whole");
    }
}

// Reads the first line as the value of Retry-After. The rest is the body of an answer with an error status.
void refusal(std::string_view input) {
    auto [retry_after, body] = first_line(input);
    base::HttpResponse response;
    response.status = 429;
    response.headers.set("Retry-After", std::string(retry_after));
    response.body = body;
    auto error = kube::error_of("GET /", response);
    check(error.code == 429, "the code is that of the answer");
    check(!error.retry_after || *error.retry_after >= base::Duration::zero(), "nobody waits backwards");
}

// Decodes a Secret with a bootstrap token.
void secret(std::string_view input) {
    auto secret = by_stream<api::Secret>(input);
    if (!secret) return;
    bootstrap::token_expired(*secret, api::Time());
    try {
        auto token = bootstrap::token_of(*secret);
        check(bootstrap::token_of(bootstrap::token_secret(token, {}, {}, api::Time())) == token,
              "a token reads as it was written");
    } catch (const std::invalid_argument&) {
    }
}

void plugin_output(std::string_view input) {
    kube::Credentials credentials;
    try {
        kube::add_plugin_output(std::string(input), credentials);
    } catch (const std::runtime_error&) {
        return;
    } catch (const std::invalid_argument&) {
        return;
    }
    check(!credentials.bearer_token.empty() || !credentials.client_certificate_pem.empty(),
          "it proves something");
}

}  // namespace fuzz
