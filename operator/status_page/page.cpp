#include "operator/status_page/page.hpp"

#include <string_view>

#include "api/bytes.hpp"
#include "base/sha256.hpp"
#include "operator/status_page/page_text.hpp"

namespace kubenodesmith::status_page {
namespace {

// Returns the source expression of a Content-Security-Policy that allows this text only.
std::string hash_of(std::string_view text) {
    const auto digest = base::sha256(text);
    return "'sha256-" + api::Bytes{{digest.begin(), digest.end()}}.str() + "'";
}

std::string policy() {
    return "default-src 'none'; script-src " + hash_of(kScript) + "; style-src " + hash_of(kStyle) +
           "; img-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action "
           "'none'; "
           "require-trusted-types-for 'script'; trusted-types 'none'";
}

std::string page() {
    std::string text = kPage;
    const auto put = [&text](std::string_view placeholder, const char* content) {
        text.replace(text.find(placeholder), placeholder.size(), content);
    };
    put("@STYLE@", kStyle);
    put("@SCRIPT@", kScript);
    return text;
}

bool asks_for_document(const base::HttpRequest& request) {
    return request.target.ends_with("?format=json");
}

}  // namespace

base::HttpResponse answer(const base::HttpRequest& request, const std::function<std::string()>& document) {
    base::HttpResponse response;
    response.status = 200;
    const bool is_document = asks_for_document(request);
    response.headers.set("Content-Type", is_document ? "application/json" : "text/html; charset=utf-8");
    response.headers.set("Content-Security-Policy", is_document ? "default-src 'none'" : policy());
    response.headers.set("X-Content-Type-Options", "nosniff");
    response.headers.set("Referrer-Policy", "no-referrer");
    response.headers.set("Cache-Control", "no-store");
    response.body = is_document ? document() : page();
    return response;
}

}  // namespace kubenodesmith::status_page
