#include "base/http.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>

namespace base {
namespace {

auto named(std::string_view name) {
    return [name](const auto& field) { return boost::beast::iequals(field.first, name); };
}

}  // namespace

void HttpHeaders::set(std::string name, std::string value) {
    std::erase_if(fields_, named(name));
    add(std::move(name), std::move(value));
}

void HttpHeaders::add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
}

std::optional<std::string_view> HttpHeaders::find(std::string_view name) const {
    auto found = std::ranges::find_if(fields_, named(name));
    if (found == fields_.end()) return std::nullopt;
    return found->second;
}

}  // namespace base
