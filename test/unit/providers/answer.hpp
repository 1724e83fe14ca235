// Writes an endpoint's answer in one line of a test.
#pragma once

#include <string>
#include <utility>

#include "base/http.hpp"

namespace test {

inline base::HttpResponse answer(int status, std::string reason, std::string body) {
    base::HttpResponse response;
    response.status = status;
    response.reason = std::move(reason);
    response.body = std::move(body);
    return response;
}

}  // namespace test
