#include "test/simulators/proxmox/core/request_parameters.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "test/simulators/proxmox/core/error.hpp"
#include "test/simulators/proxmox/core/text.hpp"

namespace proxmox_simulator {
namespace {

constexpr std::size_t kLargestBody = 512 * 1024;
constexpr std::string_view kApi = "/api2/";

std::string form_decode(std::string text) {
    for (auto& c : text) {
        if (c == '+') c = ' ';
    }
    return percent_decode(text);
}

void add_value(json::object& values, const std::string& name, const std::string& value) {
    auto* known = values.if_contains(name);
    if (!known) {
        values[name] = value;
        return;
    }
    if (!known->is_array()) {
        json::array items;
        items.push_back(std::move(*known));
        *known = std::move(items);
    }
    known->as_array().emplace_back(value);
}

// Parses a form. Pairs end at '&' and at ';'. Of the pieces between '=' only the first two count.
json::object parse_form(const std::string& text) {
    json::object values;
    for (const auto& chunk : split(text, '&')) {
        for (const auto& pair : split(chunk, ';')) {
            if (pair.empty()) continue;
            auto pieces = split(pair, '=');
            add_value(values, form_decode(pieces[0]),
                      pieces.size() > 1 ? form_decode(pieces[1]) : std::string());
        }
    }
    return values;
}

std::string content_type(const base::HttpRequest& request) {
    auto header = request.headers.find("Content-Type").value_or("");
    return lower(trim(header.substr(0, header.find(';'))));
}

json::object parse_json(const std::string& body) {
    boost::system::error_code error;
    auto value = json::parse(body, error);
    constexpr std::string_view kWhere = " at /usr/share/perl5/PVE/APIServer/AnyEvent.pm line ";
    if (error) {
        auto text =
            "malformed JSON string, neither tag, array, object, number, string or atom, at character offset "
            "0" +
            std::string(kWhere) + "934.";
        if (body.starts_with('{')) {
            text = "'\"' expected, at character offset 1 (before \"" + body.substr(1, 20) + "\")" +
                   std::string(kWhere) + "934.";
            auto brace = text.rfind("}\")");
            if (brace != std::string::npos) text.erase(brace, 1);
        }
        throw RawError(500, text, text + "\n");
    }
    if (!value.is_object()) {
        auto text = "Not a HASH reference" + std::string(kWhere) + "978.";
        throw RawError(500, text, text + "\n");
    }
    return value.as_object();
}

std::string disposition_field(std::string_view header, const std::string& name) {
    auto begin = header.find(name + "=\"");
    if (begin == std::string_view::npos) return {};
    begin += name.size() + 2;
    return std::string(header.substr(begin, header.find('"', begin) - begin));
}

}  // namespace

Target parse_target(const std::string& target) {
    auto question = target.find('?');
    auto path = target.substr(0, question);
    Target result;
    if (question != std::string::npos) result.query = parse_form(target.substr(question + 1));
    while (path.starts_with("//")) path.erase(0, 1);
    if (!path.starts_with(kApi)) throw RawError(501, "no such uri", "no such uri");
    auto slash = path.find('/', kApi.size());
    result.format = path.substr(kApi.size(), slash == std::string::npos ? slash : slash - kApi.size());
    result.path = slash == std::string::npos ? "/" : path.substr(slash);
    if (result.format != "json" && result.format != "extjs") {
        auto text = "no formatter for uri " + result.path + ", " + result.format;
        throw RawError(501, text, text);
    }
    return result;
}

bool is_upload(const base::HttpRequest& request) {
    return content_type(request) == "multipart/form-data";
}

void check_framing(const base::HttpRequest& request) {
    const auto& method = request.method;
    if (method != "GET" && method != "POST" && method != "PUT" && method != "DELETE") {
        throw RawError(501, "method '" + method + "' not available");
    }
    if (request.headers.find("Transfer-Encoding")) {
        throw RawError(501, "chunked transfer encoding not supported",
                       "chunked transfer encoding not supported");
    }
    auto declared = to_integer(request.headers.find("Content-Length").value_or("0")).value_or(0);
    auto length =
        std::max(request.body.size(), static_cast<std::size_t>(std::max<std::int64_t>(declared, 0)));
    if (length == 0) return;
    if (method == "GET" || method == "DELETE") {
        auto text = "Unexpected content for method '" + method + "'";
        throw RawError(501, text, text);
    }
    if (is_upload(request)) return;
    if (length > kLargestBody) throw RawError(501, "for data too large", "for data too large");
    auto type = content_type(request);
    if (!type.empty() && type != "application/x-www-form-urlencoded" && type != "application/json") {
        auto text = "upload 'Content-Type '" + type + "' not implemented";
        throw RawError(506, text, text);
    }
}

json::object parse_body(const base::HttpRequest& request) {
    if (request.body.empty()) return {};
    return content_type(request) == "application/json" ? parse_json(request.body) : parse_form(request.body);
}

json::object parse_upload(const base::HttpRequest& request, std::optional<UploadedFile>& file) {
    auto header = request.headers.find("Content-Type").value_or("");
    auto position = header.find("boundary=");
    if (position == std::string_view::npos)
        throw RawError(501, "no multipart boundary", "no multipart boundary");
    auto boundary = "--" + trim(header.substr(position + 9));
    std::erase(boundary, '"');
    json::object values;
    std::string_view rest = request.body;
    for (auto begin = rest.find(boundary); begin != std::string_view::npos;) {
        begin += boundary.size();
        if (rest.substr(begin, 2) == "--") break;
        auto end = rest.find("\r\n" + boundary, begin);
        auto head_end = rest.find("\r\n\r\n", begin);
        if (end == std::string_view::npos || head_end == std::string_view::npos || head_end > end) {
            throw RawError(501, "malformed multipart body", "malformed multipart body");
        }
        auto head = rest.substr(begin, head_end - begin);
        auto data = std::string(rest.substr(head_end + 4, end - head_end - 4));
        auto name = disposition_field(head, "; name");
        auto file_name = disposition_field(head, "filename");
        if (!file_name.empty()) {
            values["filename"] = file_name;
            file.emplace();
            file->name = file_name;
            file->data = std::move(data);
        } else {
            values[name] = data;
        }
        begin = end + 2;
    }
    return values;
}

}  // namespace proxmox_simulator
