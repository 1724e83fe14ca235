// Html is HTML as a type. Text becomes markup only through text(), which escapes it. So no content of a
// cluster can become markup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kubenodesmith::status_page {

class Html {
public:
    Html() = default;
    Html& operator+=(const Html& more);
    friend Html operator+(Html first, const Html& second) { return first += second; }

    const std::string& str() const { return markup_; }
    bool empty() const { return markup_.empty(); }

private:
    explicit Html(std::string markup) : markup_(std::move(markup)) {}
    friend Html operator""_html(const char* literal, std::size_t size);
    friend Html text(std::string_view plain);
    friend Html number(std::int64_t value);
    std::string markup_;
};

// Makes markup from a literal in the source.
Html operator""_html(const char* literal, std::size_t size);
// Escapes text for elements and quoted attributes.
Html text(std::string_view plain);
Html number(std::int64_t value);

}  // namespace kubenodesmith::status_page
