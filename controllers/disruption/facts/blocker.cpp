#include "controllers/disruption/facts/blocker.hpp"

#include <array>

#include "controllers/cache/kinds.hpp"

namespace controllers::disruption {

namespace {

constexpr std::array kNames{
    std::pair{Kind::Empty, reasons::kEmpty},         std::pair{Kind::Underutilized, reasons::kUnderutilized},
    std::pair{Kind::Drifted, reasons::kDrifted},     std::pair{Kind::Expired, reasons::kExpired},
    std::pair{Kind::Unhealthy, reasons::kUnhealthy}, std::pair{Kind::Evacuation, reasons::kEvacuation}};

}  // namespace

std::string_view name_of(Kind kind) {
    for (const auto& [known, name] : kNames)
        if (known == kind) return name;
    return {};
}

std::optional<Kind> kind_named(std::string_view name) {
    for (const auto& [kind, known] : kNames)
        if (known == name) return kind;
    return std::nullopt;
}

bool is_scale_down(Kind kind) {
    return kind == Kind::Empty || kind == Kind::Underutilized;
}

bool keeps_machine_for_volumes(Kind kind) {
    return kind == Kind::Unhealthy || kind == Kind::Evacuation;
}

std::optional<api::Time> end_of(std::optional<api::Time> start, api::Duration wait, api::Time now) {
    if (!start || wait.value <= std::chrono::nanoseconds{0}) return std::nullopt;
    const api::Time end(start->at + std::chrono::ceil<std::chrono::seconds>(wait.value));
    if (now < end) return end;
    return std::nullopt;
}

}  // namespace controllers::disruption
