// Checks scalars of the Kubernetes API: an accepted value keeps its meaning when it is written again.
#include <boost/url/pct_string_view.hpp>
#include <stdexcept>

#include "api/quantity.hpp"
#include "api/time.hpp"
#include "base/url.hpp"
#include "test/fuzz/targets.hpp"

namespace fuzz {
namespace {

// Parses the input, writes it, and parses the result again.
template <class T>
void round_trip(std::string_view input) {
    T value{};
    try {
        value = T::parse(input);
    } catch (const std::invalid_argument&) {
        return;
    }
    check(T::parse(value.str()) == value, "what was written reads as the same value");
}

}  // namespace

void quantity(std::string_view input) {
    round_trip<api::Quantity>(input);
    try {
        auto value = api::Quantity::parse(input);
        check(value - value == api::Quantity{}, "a - a is zero");
        check(!(value < value), "the order is strict");
        value.milli();
        value.mebibytes();
        api::IntOrString::parse(input).resolve(7);
    } catch (const std::invalid_argument&) {
    }
}

void duration(std::string_view input) {
    round_trip<api::Duration>(input);
    round_trip<api::DurationOrNever>(input);
    round_trip<api::Time>(input);
    round_trip<api::MicroTime>(input);
}

void url(std::string_view input) {
    try {
        base::parse_url(input).authority();
    } catch (const std::invalid_argument&) {
    }
    const auto encoded = base::percent_encode(input);
    check(boost::urls::pct_string_view(encoded).decode() == input, "percent-encoding is undone");
}

}  // namespace fuzz
