#include "providers/redfish/bmc/link.hpp"

#include <set>
#include <stdexcept>

namespace providers::redfish {

namespace {

bool is_clean(const std::string& text) {
    for (const char c : text) {
        if (c <= ' ' || c == '\x7f') return false;
    }
    return true;
}

}  // namespace

std::optional<std::string> target_of(const std::string& link, const base::Url& origin, Origin allowed) {
    const auto plain = link.substr(0, link.find('#'));
    if (plain.empty() || !is_clean(plain)) return std::nullopt;
    if (plain.front() == '/') {
        if (plain.size() > 1 && plain[1] == '/') return std::nullopt;  // "//host/path" names another host
        return plain;
    }
    try {
        const auto url = base::parse_url(plain);
        const bool same = url.scheme == origin.scheme && url.host == origin.host && url.port == origin.port;
        if (!same && allowed == Origin::same) return std::nullopt;
        const auto after_scheme = plain.find("//") + 2;
        const auto path = plain.find('/', after_scheme);
        return path == std::string::npos ? std::optional<std::string>("/") : plain.substr(path);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
}

std::string path_of_link(const std::string& link) {
    auto path = link.substr(0, link.find('#'));
    const auto scheme = path.find("://");
    const auto begin = scheme == std::string::npos ? 0 : path.find('/', scheme + 3);
    path = begin == std::string::npos ? std::string("/") : path.substr(begin);
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
}

std::vector<std::string> distinct(const std::vector<std::string>& links) {
    std::vector<std::string> result;
    std::set<std::string> paths;
    for (const auto& link : links) {
        if (paths.insert(path_of_link(link)).second) result.push_back(link);
    }
    return result;
}

}  // namespace providers::redfish
