// Objects and watch events of the API server. Both decoders must agree on what they accept and what it means.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>

#include "api/core.hpp"
#include "api/stream.hpp"
#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/pool.hpp"
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

// What they make of the input may differ where an object holds a key twice (api/stream.hpp).
template <class T>
void agree(std::string_view input) {
    auto streamed = by_stream<T>(input);
    auto parsed = by_document<T>(input);
    check(streamed.has_value() == parsed.has_value(), "both decoders accept the same");
    if (!parsed) return;
    auto text = boost::json::serialize(api::encode(*parsed));
    check(by_document<T>(text) == parsed, "encoding and decoding gives the same object");
    check(by_stream<T>(text) == parsed, "the streaming decoder reads what was encoded");
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
    try {
        api::ListDecoder<api::Node> list([](api::Node&&) {});
        auto middle = input.size() / 2;
        list.write(input.substr(0, middle));
        list.write(input.substr(middle));
        list.finish();
    } catch (const api::DecodeError&) {
    } catch (const api::ParseError&) {
    }
}

}  // namespace fuzz
