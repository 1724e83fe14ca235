#include "kube/slow_answers.hpp"

namespace kube {

bool is_unanswered(const ApiError& error) {
    constexpr int kGatewayTimeout = 504;
    return error.code == kGatewayTimeout;
}

bool took_long(const ApiError& error) {
    const auto says = [&error](const char* words) { return error.message.find(words) != std::string::npos; };
    return is_unanswered(error) ||
           (says("failed calling webhook") && (says("deadline exceeded") || says("imeout")));
}

}  // namespace kube
