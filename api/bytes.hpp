// Bytes is binary data, base64 on the wire (Secret.data).
#pragma once
#include <string>
#include <string_view>

namespace api {

struct Bytes {
    std::string value;  // the decoded bytes

    // Decodes base64 (padded, standard alphabet). Throws std::invalid_argument.
    static Bytes parse(std::string_view base64);
    // Encodes base64.
    std::string str() const;
    bool operator==(const Bytes&) const = default;
};

}  // namespace api
