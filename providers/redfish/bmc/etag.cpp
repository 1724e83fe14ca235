#include "providers/redfish/bmc/etag.hpp"

#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

// Returns a strong tag. W/"abc-gzip" was "abc" before a proxy of the BMC compressed the answer.
std::string strong(std::string tag) {
    if (tag.starts_with("W/")) tag.erase(0, 2);
    constexpr std::string_view kSuffix = "-gzip\"";
    if (tag.ends_with(kSuffix)) tag.replace(tag.size() - kSuffix.size(), kSuffix.size(), "\"");
    while (tag.starts_with("\"\"") && tag.ends_with("\"\"") && tag.size() > 4)
        tag = tag.substr(1, tag.size() - 2);
    return tag;
}

}  // namespace

std::string etag_of(const base::HttpResponse& response, const boost::json::object& body) {
    auto tag = text_at(body, "@odata.etag");
    if (!tag.empty()) return tag;
    const auto header = response.headers.find("ETag");
    return header ? std::string(*header) : std::string();
}

std::vector<std::string> etag_ladder(const std::string& etag) {
    if (etag.empty()) return {"", "*"};
    std::vector<std::string> ladder{etag};
    if (strong(etag) != etag) ladder.push_back(strong(etag));
    ladder.emplace_back();
    return ladder;
}

}  // namespace providers::redfish
