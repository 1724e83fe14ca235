#include "operator/status_page/html.hpp"

namespace kubenodesmith::status_page {

Html& Html::operator+=(const Html& more) {
    markup_ += more.markup_;
    return *this;
}

Html operator""_html(const char* literal, std::size_t size) {
    return Html(std::string(literal, size));
}

Html text(std::string_view plain) {
    std::string markup;
    markup.reserve(plain.size());
    for (const char c : plain) {
        switch (c) {
            case '&':
                markup += "&amp;";
                break;
            case '<':
                markup += "&lt;";
                break;
            case '>':
                markup += "&gt;";
                break;
            case '"':
                markup += "&quot;";
                break;
            case '\'':
                markup += "&#39;";
                break;
            default:
                markup += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
        }
    }
    return Html(std::move(markup));
}

Html number(std::int64_t value) {
    return Html(std::to_string(value));
}

}  // namespace kubenodesmith::status_page
